import type { Dice } from "./dice.ts";

/** What one process of the bridge goes through before it is killed. */
export interface Life {
  /** Killed after `afterMs` of its start, ready or not; otherwise of its first sign of health. */
  readonly early: boolean;
  readonly afterMs: number;
  /** Stopped for so long before the kill; 0: not at all. */
  readonly pauseMs: number;
  /** Whether it goes on for a moment after the pause; otherwise it is killed while it is stopped. */
  readonly resumes: boolean;
  /** Asked to end so long before the kill, which it may forestall; 0: not asked. */
  readonly askedMs: number;
  /** How long there is none after it. */
  readonly downMs: number;
}

const EARLY = 0.2;
const PAUSED = 0.12;
const ASKED = 0.12;

/** What one life takes on the average: until it is healthy on a busy machine, and in the pauses of the plan. */
export const USUAL_LIFE_MS = { starting: 1_000, pauses: 1_900 } as const;

/** The lives of the bridge, without end; a seed gives the same ones again. */
export function* livesOf(seed: Dice): Generator<Life, never, undefined> {
  const dice = seed.fork("bridge");
  for (;;) {
    const early = dice.chance(EARLY);
    const paused = dice.chance(PAUSED);
    yield {
      early,
      afterMs: Math.round(dice.between(early ? [30, 900] : [50, 3_000])),
      pauseMs: paused ? Math.round(dice.between([200, 4_500])) : 0,
      resumes: dice.chance(0.7),
      askedMs: dice.chance(ASKED) ? Math.round(dice.between([1, 1_500])) : 0,
      downMs: Math.round(dice.chance(0.2) ? dice.between([200, 1_200]) : 0),
    };
  }
}
