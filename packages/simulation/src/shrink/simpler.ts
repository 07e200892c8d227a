import { withBindings } from "../plan/looks-at.ts";
import { type Fault, lastEnd, type Plan, type PlannedMessage } from "../plan/plan.ts";

/** With these messages only, which are numbered anew. */
export function withMessages(plan: Plan, messages: readonly PlannedMessage[]): Plan {
  return calmed({ ...plan, messages: messages.map((message, number) => ({ ...message, number })) });
}

export function withFaults(plan: Plan, faults: readonly Fault[]): Plan {
  return calmed({ ...plan, faults });
}

/** Plans that each differ in one thing and are easier to understand, the most effective first. */
export function* simpler(plan: Plan): Generator<Plan> {
  const { instances = 1 } = plan;
  if (instances > 1) yield withInstances(plan, instances - 1);
  if (plan.bindings.length > 1) for (const binding of plan.bindings) yield withBinding(plan, binding);
  for (const [key, habits] of edgesOf(plan)) {
    for (const [name, value] of Object.entries(habits)) {
      const easy = easier(name, value);
      if (easy !== undefined && easy !== value) yield { ...plan, [key]: { ...habits, [name]: easy } };
    }
  }
  if (plan.messages.some((message) => Object.keys(message).length > 2))
    yield { ...plan, messages: plan.messages.map(({ number, at }) => ({ number, at })) };
  for (const [index, fault] of plan.faults.entries()) {
    const rounded = { ...fault, at: roundly(fault.at), forMs: roundly(fault.forMs) };
    if (rounded.at !== fault.at || rounded.forMs !== fault.forMs)
      yield withFaults(plan, plan.faults.with(index, rounded));
  }
}

/** The last one is missing, and so are the faults that it met. */
function withInstances(plan: Plan, instances: number): Plan {
  return withFaults(
    { ...plan, instances },
    plan.faults.filter(({ instance = 0 }) => instance < instances),
  );
}

/** Whatever a plan says of a part that is simulated. */
function edgesOf(plan: Plan): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  return Object.entries(plan as unknown as Readonly<Record<string, unknown>>).filter(
    (entry): entry is [string, Record<string, unknown>] =>
      entry[0] !== "document" && typeof entry[1] === "object" && entry[1] !== null && !Array.isArray(entry[1]),
  );
}

/** One route to one binding, in the document too. */
function withBinding(plan: Plan, binding: string): Plan {
  const { bindings, routes, ...rest } = plan.document;
  return {
    ...plan,
    bindings: [binding],
    document: {
      ...rest,
      bindings: (bindings ?? []).filter(({ id }) => id === binding),
      routes: (routes ?? []).map((route) => ({ ...withBindings(route, [binding]), dispatch_mode: "single" })),
    },
  };
}

/** A share that goes wrong by itself, and how long a way is. Other numbers are bounds, which are no simpler when they are small. */
function easier(name: string, value: unknown): unknown {
  if (name === "latencyMs") return 1;
  return typeof value === "number" && value > 0 && value < 1 ? 0 : undefined;
}

function roundly(ms: number): number {
  return ms > 1_000 ? Math.round(ms / 1_000) * 1_000 : ms;
}

/** Nothing happens any more when the last message is published and the last fault is over. */
function calmed(plan: Plan): Plan {
  const calmAt = Math.max(lastEnd(plan.faults), ...plan.messages.map(({ at }) => at));
  return { ...plan, calmAt };
}
