import {
  BridgeError,
  defineFactory,
  type Envelope,
  type PluginContext,
  type Processor,
  type ProcessorPlugin,
  type ProcessorResult,
} from "@bridge/ports";
import { compileVerdict, type Condition, conditionSchema, Subject } from "@bridge/ports/conditions";
import { describe, oneOrList } from "@bridge/ports/options";
import * as v from "valibot";

const options = v.pipe(
  v.strictObject({
    keep: describe(
      v.optional(oneOrList(conditionSchema)),
      "A condition, or a list of them: a message for which one of them does not hold is filtered out.",
    ),
    drop: describe(
      v.optional(oneOrList(conditionSchema)),
      "A condition, or a list of them: a message for which all of them hold is filtered out.",
    ),
    on_unreadable: describe(
      v.optional(v.picklist(["fail", "keep", "drop"])),
      "What becomes of a message when a condition needs something that cannot be read, such as a field of a payload that is not JSON: it fails as `INVALID_PAYLOAD`, passes, or is filtered out. Default: `fail` for the conditions of `keep`; those of `drop` do not hold then.",
    ),
  }),
  v.check(({ keep, drop }) => keep !== undefined || drop !== undefined, "filters nothing: give keep, drop or both"),
  v.metadata({ anyOf: [{ required: ["keep"] }, { required: ["drop"] }] }),
);

/** The processor `filter`: lets messages pass by conditions, which mean what they mean to a resolver. */
export const filterPlugin: ProcessorPlugin = {
  type: "filter",
  ...defineFactory({
    options,
    create: ({ keep = [], drop = [], on_unreadable: onUnreadable }, _context: PluginContext) =>
      new Filter(keep, drop, onUnreadable),
  }),
};

type OnUnreadable = "fail" | "keep" | "drop";

class Filter implements Processor {
  readonly #keep: readonly NamedTest[];
  readonly #drop: readonly NamedTest[];
  readonly #onUnreadable: OnUnreadable | undefined;

  constructor(keep: readonly Condition[], drop: readonly Condition[], onUnreadable: OnUnreadable | undefined) {
    this.#keep = keep.map(namedTest);
    this.#drop = drop.map(namedTest);
    this.#onUnreadable = onUnreadable;
  }

  process(envelope: Envelope): ProcessorResult {
    const subject = new Subject(envelope);
    const keep = judge(this.#keep, subject);
    if (keep.kind === "unmet") return { kind: "filter", reason: `keep does not hold: ${keep.test.name}` };
    const drop = judge(this.#drop, subject);
    if (drop.kind === "met" && this.#drop.length > 0) {
      return { kind: "filter", reason: `drop holds: ${this.#drop.map(({ name }) => name).join(", ")}` };
    }
    // What could be read has not decided it.
    const open = keep.kind === "unread" ? keep : drop;
    if (open.kind !== "unread") return { kind: "pass", envelope };
    switch (this.#onUnreadable ?? (open === keep ? "fail" : "keep")) {
      case "keep":
        return { kind: "pass", envelope };
      case "drop":
        return { kind: "filter", reason: unreadable(open.test, subject) };
      case "fail":
        throw new BridgeError("INVALID_PAYLOAD", unreadable(open.test, subject));
    }
  }
}

/** What a list of conditions comes to: all hold, one does not, or that cannot be told because of one. */
type Judgement = { readonly kind: "met" } | { readonly kind: "unmet" | "unread"; readonly test: NamedTest };

function judge(tests: readonly NamedTest[], subject: Subject): Judgement {
  let unread: NamedTest | undefined;
  for (const test of tests) {
    const holds = test.holds(subject);
    if (holds === false) return { kind: "unmet", test };
    if (holds === undefined) unread ??= test;
  }
  return unread === undefined ? { kind: "met" } : { kind: "unread", test: unread };
}

function unreadable({ name }: NamedTest, subject: Subject): string {
  return `cannot tell whether ${name} holds: ${subject.jsonProblem ?? "the text is too long for this regular expression"}`;
}

/** A condition with the part of it that may be told: what it compares with may be somebody's secret. */
interface NamedTest {
  readonly name: string;
  readonly holds: (subject: Subject) => boolean | undefined;
}

function namedTest(condition: Condition): NamedTest {
  return { name: `${condition.field} ${condition.op}`, holds: compileVerdict(condition) };
}
