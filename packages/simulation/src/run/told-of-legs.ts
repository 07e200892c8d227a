import type { Disposition } from "@bridge/core";
import { numberIn } from "../model/broker-session.ts";
import type { Plan } from "../plan/plan.ts";
import type { World } from "./world.ts";

/** How a leg has ended, as an instance tells it. */
export interface ToldLeg {
  /** Empty when it ended before a binding was chosen. */
  readonly bindingId: string;
  readonly outcome: Disposition | "persisted";
}

/** Of which messages something is told: several may have one id. `undefined`: nobody here knows. */
export function numbersOf(
  plan: Plan,
  { envelopeId, payload }: { readonly envelopeId: string; readonly payload?: Uint8Array | undefined },
): readonly number[] | undefined {
  if (payload !== undefined) return [numberIn(payload)];
  const digits = /^m-(\d+)$/.exec(envelopeId)?.[1];
  if (digits !== undefined) return [Number(digits)];
  const twins = plan.messages.filter(({ id }) => id === envelopeId).map(({ number }) => number);
  return twins.length === 0 ? undefined : twins;
}

/** What is false in what is told of a leg, in words, by what the edges know of all messages that it may be of. */
export function falseOf({ auditor, plan }: World, numbers: readonly number[], leg: ToldLeg): string | undefined {
  const { bindingId, outcome } = leg;
  const known = numbers.map((number) => auditor.standings.of(number, bindingId));
  const isSo = (what: (each: (typeof known)[number]) => boolean): boolean => known.some(what);
  /** One without a binding may have gone to any of them since. */
  const wasRedriven = (): boolean =>
    bindingId === "" &&
    numbers.some((number) => plan.bindings.some((each) => auditor.standings.of(number, each).accepted));
  switch (outcome) {
    case "delivered":
      return isSo(({ accepted }) => accepted) ? undefined : `${bindingId} has got it, which has not`;
    case "dead_lettered":
      return isSo(({ kept, accepted }) => kept || accepted) || wasRedriven()
        ? undefined
        : `it is in the DLQ, where it is not`;
    case "persisted":
      return isSo(({ record }) => record) ? undefined : `it is in the outbox, where it is not`;
    case "dropped":
    case "expired":
    case "filtered":
      return isSo(({ droppable }) => droppable) ? undefined : `it is ${outcome}, for which there is no reason`;
    case "duplicate":
    case "released":
    case "abandoned":
      return undefined;
  }
}
