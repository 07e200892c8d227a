import { types } from "node:util";

/** What JSON can say. A property that is `undefined` is left out. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** A payload as programs have it: bytes, or text, which is sent as UTF-8, or any other JSON value, which is sent as JSON. */
export type CodePayload = Uint8Array | JsonValue;

export interface EncodedPayload {
  readonly payload: Uint8Array;
  /** `application/json` for what was neither bytes nor text. */
  readonly contentType?: string;
}

/** What is nested deeper is refused, and with it what holds itself. */
const MAX_DEPTH = 100;
const encoder = new TextEncoder();

/** @throws TypeError naming `field`, or what in it is neither bytes nor text nor a JSON value */
export function encodePayload(value: CodePayload, field = "payload"): EncodedPayload {
  if (typeof value === "string") {
    if (!value.isWellFormed()) {
      throw new TypeError(
        `${field} has half a character (a lone surrogate), which UTF-8 cannot say: give it whole text, or bytes`,
      );
    }
    return { payload: encoder.encode(value) };
  }
  if (types.isUint8Array(value)) {
    if (value.buffer instanceof ArrayBuffer && value.buffer.detached) {
      throw new TypeError(`${field} has given its memory away: hand over a copy`);
    }
    return { payload: value };
  }
  const problem = problemOf(value, field);
  if (problem !== undefined) throw new TypeError(problem);
  return { payload: encoder.encode(JSON.stringify(value)), contentType: "application/json" };
}

/** A getter may throw, and so may a proxy, whatever is asked of it. */
function problemOf(value: unknown, field: string): string | undefined {
  try {
    return jsonProblem(value, field, 0);
  } catch (cause) {
    throw new TypeError(`${field} cannot be read: ${REMEDY}`, { cause });
  }
}

function jsonProblem(value: unknown, place: string, depth: number): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : `${place} is ${value}, which JSON cannot say`;
  if (typeof value !== "object") return `${place} is ${nameOf(value)}: ${REMEDY}`;
  if (depth === MAX_DEPTH) return `${place} is nested more than ${MAX_DEPTH} levels deep`;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const problem = jsonProblem(value[index], `${place}[${index}]`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (!isPlain(value)) return `${place} is ${nameOf(value)}: ${REMEDY}`;
  for (const [key, part] of Object.entries(value)) {
    const problem = part === undefined ? undefined : jsonProblem(part, `${place}.${key}`, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const REMEDY = "give it text, bytes (a Uint8Array) or a JSON value of plain objects and lists";

/** Anything else is more than its JSON would say, such as a date, a map or a view of memory. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === null || Object.getPrototypeOf(prototype) === null) && !("toJSON" in value);
}

function nameOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === undefined ? "undefined" : `a ${typeof value}`;
  const maker: unknown = value.constructor;
  return typeof maker === "function" && maker.name !== "" ? `an object of ${maker.name}` : "no plain object";
}
