/** Where a message ended for one binding: `delivered`, `outbox`, `dlq CATEGORY CODE`; or, in none of these, `nowhere`. */
export interface Ended {
  readonly places: readonly string[];
  /** How often it came to its target. */
  readonly arrivals: number;
}

/** What became of a scenario. */
export interface Outcome {
  /** By `NUMBER BINDING`. */
  readonly ended: ReadonlyMap<string, Ended>;
  /** What its source still has. */
  readonly atSource: readonly number[];
  /** What should not be, in words. */
  readonly faults: readonly string[];
}

export function legOf(number: number, binding: string): string {
  return `${number} ${binding}`;
}

export function placesOf({ places }: Pick<Ended, "places">): string {
  return places.length === 0 ? "nowhere" : places.toSorted().join(", ");
}
