import assert from "node:assert/strict";
import { type LeaseCheck, lease, withStore } from "./check.ts";
import type { Hands } from "./hands.ts";

const RACERS = 20;
const EACH = 3;

/** What instances may do at once, over two handles where there are two. */
export const RACING_CHECKS = {
  "of 20 that take a lease which nobody has taken, one gets it": withStore(async (owner, other) =>
    oneWins(owner, other, undefined),
  ),
  "of 20 that replace one record, one does": withStore(async (owner, other) => {
    await owner.make(undefined, lease({ token: 1, beat: 8 }));
    await oneWins(owner, other, lease({ token: 1, beat: 8 }));
  }),
  "a renewal and a takeover that race: one is made": withStore(async (owner, other) => {
    for (let token = 1; token <= 10; token++) {
      const held = lease({ token, beat: 5 });
      await owner.make(token === 1 ? undefined : lease({ token: token - 1, beat: 7 }), held);
      const made = await Promise.all([
        owner.replace(held, lease({ token, beat: 6 })),
        other.replace(held, lease({ holder: "b", token: token + 1, beat: 5 })),
      ]);
      assert.equal(made.filter(Boolean).length, 1, `${made.filter(Boolean).length} of two are told that they have it`);
      const now = made[0] ? lease({ token, beat: 6 }) : lease({ holder: "b", token: token + 1, beat: 5 });
      await owner.find(now);
      await owner.make(now, lease({ token, beat: 7 }));
    }
  }),
  "races under different keys do not touch each other": withStore(async (owner, other) => {
    const keys = Array.from({ length: RACERS }, (_, i) => `plant-7/session-${i}`);
    const made = await race(owner, other, (hands, i) => hands.replace(undefined, lease({ token: i }), keys[i]));
    assert.deepEqual(
      made,
      keys.map(() => true),
    );
    for (const [token, key] of keys.entries()) await owner.find(lease({ token }), key);
  }),
  "of replacements that are tried until they are made, none is lost": withStore(async (owner, other, signal) => {
    await owner.make(undefined, lease({ token: 0 }));
    await race(owner, other, async (hands) => {
      for (let made = 0; made < EACH;) {
        signal.throwIfAborted();
        const there = await hands.read();
        assert.ok(there !== undefined, "the lease is gone");
        if (await hands.replace(there, { ...there, token: there.token + 1 })) made++;
      }
    });
    await owner.find(lease({ token: RACERS * EACH }));
  }),
} as const satisfies Record<string, LeaseCheck>;

async function oneWins(owner: Hands, other: Hands, expected: ReturnType<typeof lease> | undefined): Promise<void> {
  const made = await race(owner, other, (hands, i) =>
    hands.replace(expected, lease({ holder: `racer-${i}`, token: 2, beat: 1 })),
  );
  const winners = made.flatMap((won, i) => (won ? [`racer-${i}`] : []));
  assert.equal(winners.length, 1, `${winners.length} of ${RACERS} are told that they have it`);
  await owner.find(lease({ holder: winners[0] ?? "", token: 2, beat: 1 }));
  await other.find(lease({ holder: winners[0] ?? "", token: 2, beat: 1 }));
}

/** Twenty at once, every other one over the second handle. */
function race<T>(owner: Hands, other: Hands, run: (hands: Hands, i: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: RACERS }, (_, i) => run(i % 2 === 0 ? owner : other, i)));
}
