import type { Letter } from "../model/dead-letters.ts";
import type { World } from "./world.ts";

/** A message, as far as one binding is concerned. */
export interface Leg {
  readonly number: number;
  readonly bindingId: string;
}

/** Where the messages of a run are at its end, as the edges have it. */
export interface Places {
  readonly delivered: readonly (Leg & { readonly times: number })[];
  readonly dead: readonly Letter[];
  /** In the outbox. */
  readonly waiting: readonly Leg[];
  /** The numbers of those that the source still has. */
  readonly atSource: readonly number[];
}

export function placesOf({ auditor, dlq, outbox }: World): Places {
  return {
    delivered: [...auditor.targets.arrivals()],
    dead: [...dlq.oldest(Infinity).values()],
    waiting: [...outbox.oldest(Infinity).values()],
    atSource: [...auditor.source.unforgotten()],
  };
}
