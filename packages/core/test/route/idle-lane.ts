import type { LaneSource } from "../../src/route/lane.ts";

/** The counters of a lane with nothing to do, for tests to set. */
export type Counters = { -readonly [Key in keyof LaneSource]: LaneSource[Key] };

export function idleLane(name: string): Counters {
  return { name, work: 0, ended: 0, delivered: 0, refused: 0, unanswered: 0, failure: undefined, limited: false };
}
