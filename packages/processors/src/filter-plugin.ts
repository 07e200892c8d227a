import {
  defineFactory,
  type Envelope,
  type PluginContext,
  type Processor,
  type ProcessorPlugin,
  type ProcessorResult,
} from "@bridge/ports";
import { compileCondition, type Condition, conditionSchema, Subject } from "@bridge/ports/conditions";
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
  }),
  v.check(({ keep, drop }) => keep !== undefined || drop !== undefined, "filters nothing: give keep, drop or both"),
);

/** The processor `filter`: lets messages pass by conditions, which mean what they mean to a resolver. */
export const filterPlugin: ProcessorPlugin = {
  type: "filter",
  ...defineFactory({
    options,
    create: ({ keep = [], drop = [] }, _context: PluginContext) => new Filter(keep, drop),
  }),
};

class Filter implements Processor {
  readonly #keep: readonly NamedTest[];
  readonly #drop: readonly NamedTest[];

  constructor(keep: readonly Condition[], drop: readonly Condition[]) {
    this.#keep = keep.map(namedTest);
    this.#drop = drop.map(namedTest);
  }

  process(envelope: Envelope): ProcessorResult {
    const subject = new Subject(envelope);
    const unmet = this.#keep.find(({ holds }) => !holds(subject));
    if (unmet !== undefined) return { kind: "filter", reason: `keep does not hold: ${unmet.name}` };
    if (this.#drop.length > 0 && this.#drop.every(({ holds }) => holds(subject))) {
      return { kind: "filter", reason: `drop holds: ${this.#drop.map(({ name }) => name).join(", ")}` };
    }
    return { kind: "pass", envelope };
  }
}

/** A condition with the part of it that may be told: what it compares with may be somebody's secret. */
interface NamedTest {
  readonly name: string;
  readonly holds: (subject: Subject) => boolean;
}

function namedTest(condition: Condition): NamedTest {
  return { name: `${condition.field} ${condition.op}`, holds: compileCondition(condition) };
}
