import fc from "fast-check";
import type { Loss } from "./lost-answers.ts";

export const INSTANCES = 3;
export const LOAN_MS = 10_000;
const HOUR_MS = 3_600_000;

const instance = fc.nat(INSTANCES - 1);
const loss = fc.constantFrom<Loss[]>("none", "none", "none", "again", "late", "never");
const key = fc.constantFrom(undefined, "k1", "k2", "k3");
const delayMs = fc.constantFrom(0, 1_000, 20_000);
const outcome = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ kind: "done" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "dead" } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("retry" as const), delayMs, attempts: fc.nat(3) }) },
);

const persist = fc.record({
  does: fc.constant("persist" as const),
  instance,
  loss,
  keys: fc.array(key, { minLength: 1, maxLength: 5 }),
});
const claim = fc.record({
  does: fc.constant("claim" as const),
  instance,
  loss,
  limit: fc.integer({ min: 1, max: 5 }),
});
const claimOne = fc.record({ does: fc.constant("claimOne" as const), instance, back: fc.nat(10) });
/** Whoever does not come to this for long has stood still. */
const finish = fc.record({
  does: fc.constant("finish" as const),
  instance,
  loss,
  count: fc.integer({ min: 1, max: 4 }),
  outcome,
});
const pass = fc.record({ does: fc.constant("pass" as const), ms: fc.constantFrom(500, 3_000, LOAN_MS) });
const set = fc.record({ does: fc.constant("set" as const), ms: fc.constantFrom(-HOUR_MS, -30_000, 30_000, HOUR_MS) });
const arrive = fc.record({ does: fc.constant("arrive" as const) });

/** What instances do one after another, what becomes of the answers, and what the server's clock does meanwhile. */
export const step = fc.oneof(
  { weight: 4, arbitrary: persist },
  { weight: 5, arbitrary: claim },
  { weight: 1, arbitrary: claimOne },
  { weight: 6, arbitrary: finish },
  { weight: 2, arbitrary: pass },
  { weight: 1, arbitrary: set },
  { weight: 1, arbitrary: arrive },
);

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type Step = Of<typeof step>;
export type Persist = Of<typeof persist>;
export type Claim = Omit<Of<typeof claim>, "does">;
export type ClaimOne = Of<typeof claimOne>;
export type Finish = Omit<Of<typeof finish>, "does">;
