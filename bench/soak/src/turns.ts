import type { Dice } from "../../torture/src/plan/dice.ts";
import { LANE_NAMES, LANES, type LaneName } from "../../torture/src/plan/troubles.ts";

/** What PostgreSQL, or the way to it, goes through. */
const POSTGRES_KINDS = ["freeze", "restart", "link_freeze", "link_refuse"] as const;
export type PostgresKind = (typeof POSTGRES_KINDS)[number];

/** One part in trouble, all others well. */
export type Turn = (
  | { readonly lane: LaneName; readonly kind: string }
  | { readonly lane: "postgres"; readonly kind: PostgresKind }
) & {
  /** After the end of the last one. */
  readonly afterMs: number;
  readonly forMs: number;
};

/** Of what happens to links and answers, those that keep something away for as long as they last. */
const LINK_KINDS: readonly string[] = ["refuse", "freeze"];
const ANSWER_KINDS: readonly string[] = ["unavailable", "hanging", "kept_then_error"];
const PAUSE_MS = [1_500, 5_000] as const;
/** Shorter than any lease, loan or retry budget: what is away comes back in time. */
const TROUBLE_MS = [2_000, 6_000] as const;

/** All that can be in trouble, each once. */
function kinds(): readonly (readonly [lane: Turn["lane"], kind: string])[] {
  const lanes = LANE_NAMES.filter((lane) => lane !== "clock").flatMap((lane) =>
    Object.keys(LANES[lane].kinds)
      .filter((kind) => !lane.endsWith("_link") || LINK_KINDS.includes(kind))
      .filter((kind) => lane !== "http_answers" || ANSWER_KINDS.includes(kind))
      .map((kind) => [lane, kind] as const),
  );
  return [...lanes, ...POSTGRES_KINDS.map((kind) => ["postgres", kind] as const)];
}

/** Troubles without end: in each round each one once, in an order that the seed gives again. */
export function* turns(seed: Dice): Generator<Turn, never, undefined> {
  const dice = seed.fork("turns");
  for (;;) {
    const round = kinds()
      .map((turn) => ({ turn, rank: dice.next() }))
      .toSorted((one, other) => one.rank - other.rank);
    for (const { turn } of round) {
      const [lane, kind] = turn;
      const afterMs = Math.round(dice.between(PAUSE_MS));
      const forMs = Math.round(dice.between(TROUBLE_MS));
      yield { lane, kind, afterMs, forMs } as Turn;
    }
  }
}
