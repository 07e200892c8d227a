import jsonata from "jsonata";
import { checkJsonLength } from "./json.ts";
import { Refusal } from "./refusal.ts";

/** What one evaluation may use besides its time. */
export const EXPRESSION_LIMITS = {
  /** Calls within each other. */
  depth: 200,
  /** Elements of a sequence: what a path, a range or a function such as `$map` gives. */
  elements: 100_000,
  /** Characters of a text. */
  characters: 4_000_000,
} as const;

/** Evaluates a compiled expression. Rejects with a {@link Refusal} that names no value of the document. */
export type Expression = (document: object) => Promise<unknown>;

/** Compiles an expression whose evaluations are bounded, in time by `timeoutMs`. */
export async function compileExpression(text: string, timeoutMs: number): Promise<Expression> {
  const { depth: stack, elements: sequence } = EXPRESSION_LIMITS;
  const compiled = jsonata(text, { timeout: timeoutMs, stack, sequence });
  // It would run text as code, and the text may come from a payload.
  compiled.assign("eval", undefined);
  for (const [name, check] of Object.entries(CHECKS)) {
    const builtIn = (await jsonata(`$${name}`).evaluate(undefined)) as BuiltIn;
    compiled.assign(name, checked(builtIn, check));
  }
  compiled.assign(AFTER_EACH_STEP as unknown as string, (...step: readonly unknown[]) => {
    const result = step[3];
    if (typeof result === "string") checkLength(result.length);
  });
  return async (document) => {
    try {
      return (await compiled.evaluate(document)) as unknown;
    } catch (thrown) {
      throw refusalOf(thrown, text);
    }
  };
}

/** The library calls what is bound to this name after each step of an evaluation. */
const AFTER_EACH_STEP = Symbol.for("jsonata.__evaluate_exit");

/** A function of the language, as the library holds it. */
interface BuiltIn {
  readonly implementation: (this: unknown, ...args: readonly unknown[]) => unknown;
}

/** Functions that make a long text in one step, where a look at each result comes too late. */
const CHECKS: Readonly<Record<string, (...args: readonly unknown[]) => void>> = {
  pad: (_text, width) => checkLength(Math.abs(Number(width))),
  join: (texts, separator) => {
    const parts = Array.isArray(texts) ? (texts as readonly unknown[]) : [texts];
    checkLength(parts.reduce<number>((sum, part) => sum + lengthOf(part) + lengthOf(separator), 0));
  },
  string: (value) => checkJsonLength(value, EXPRESSION_LIMITS.characters),
};

function checked(builtIn: BuiltIn, check: (...args: readonly unknown[]) => void): BuiltIn {
  return {
    ...builtIn,
    implementation(...args) {
      check(...args);
      return builtIn.implementation.apply(this, [...args]);
    },
  };
}

function lengthOf(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}

function checkLength(characters: number): void {
  if (characters <= EXPRESSION_LIMITS.characters) return;
  throw new Refusal("PAYLOAD_TOO_LARGE", `makes a text of more than ${EXPRESSION_LIMITS.characters} characters`);
}

const TOO_LONG = "D1012";
const TOO_MANY_ELEMENTS = new Set(["D2014", "D2015"]);
const LIBRARY_CODE = /^[DSTU]\d{4}$/;

/** The library's own sentences quote values of the message: of its errors only the code and the place go on. */
function refusalOf(thrown: unknown, text: string): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const { code, position, token } = thrown as { readonly [key in "code" | "position" | "token"]?: unknown };
  if (code === TOO_LONG) return new Refusal("TIMEOUT", "was not evaluated in time");
  if (TOO_MANY_ELEMENTS.has(String(code))) {
    return new Refusal("PAYLOAD_TOO_LARGE", `makes a sequence of more than ${EXPRESSION_LIMITS.elements} elements`);
  }
  const known = typeof code === "string" && LIBRARY_CODE.test(code);
  const reason = known ? `JSONata ${code}` : "what it makes is too long, or nested too deeply";
  const place = typeof position === "number" ? ` at character ${position}` : "";
  const at = typeof token === "string" && text.includes(token) ? `${place} ("${token}")` : place;
  return new Refusal("INVALID_PAYLOAD", `cannot be evaluated${at}: ${reason}`);
}
