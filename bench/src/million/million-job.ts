/** What the program with a million dead letters is told. */
export interface MillionJob {
  readonly path: string;
  readonly entries: number;
}

export const SIZE = 256;
/** So a million of them are spread over three weeks. */
export const STEP_MS = 1_800;
export const BINDING = "to-out";
/** Messages a second that a route carries beside all that. */
export const TRAFFIC = 2_000;
