import assert from "node:assert/strict";
import { type OutboxCheck, staged } from "./check.ts";
import { idsAt, record, records } from "./outbox-records.ts";
import { dueAtOnce } from "./owner.ts";

const HOUR_MS = 3_600_000;
const LOAN_MS = 1_000;

/** Records of one key follow one another, per route and binding. */
export const ORDERING_CHECKS = {
  "one call may lend several of a key, in order, among others": staged(async ({ owner }) => {
    await owner.add(...records(6, (i) => ({ orderingKey: i % 2 === 0 ? "key" : undefined })));
    assert.deepEqual(await owner.claimIds({ limit: 5 }), idsAt(0, 1, 2, 3, 4));
    assert.deepEqual(await owner.claimIds(), idsAt(5));
  }),
  "while the head of a key is lent the rest of it waits, and nothing else": staged(async ({ owner, other }) => {
    await owner.add(...records(6, (i) => ({ orderingKey: ["a", "b", undefined][i % 3] })));
    await owner.take("r0000");
    assert.deepEqual(await other.claimIds(), idsAt(1, 2, 4, 5));
  }),
  "while the head of a key waits for a retry the rest of it waits, and nothing else": staged(async ({ owner }) => {
    await owner.add(...records(6, (i) => ({ orderingKey: ["a", "b", undefined][i % 3] })));
    await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    assert.deepEqual(await owner.claimIds(), idsAt(1, 2, 4, 5));
  }),
  "a record without a key that waits for a retry holds up nothing": staged(async ({ owner }) => {
    await owner.add(...records(3));
    await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    assert.deepEqual(await owner.claimIds(), idsAt(1, 2));
  }),
  "a record in the middle of a key holds up the younger ones, not the older": staged(async ({ owner }) => {
    await owner.add(...records(4, () => ({ orderingKey: "key" })));
    await owner.end(await owner.take("r0001"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    assert.deepEqual(await owner.claimIds(), idsAt(0));
  }),
  "the rest of a key goes on with the retry of its head": staged(async ({ owner, time }) => {
    await owner.add(...records(3, () => ({ orderingKey: "key" })));
    await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: LOAN_MS, attempts: 1 });
    await time.pass(LOAN_MS);
    assert.deepEqual(await owner.claimIds(), idsAt(0, 1, 2));
  }),
  "the rest of a key goes on when its head is delivered or dead": staged(async ({ owner }) => {
    await owner.add(...records(3, () => ({ orderingKey: "key" })));
    await owner.end(await owner.claimOnly("r0000", { limit: 1 }), { kind: "done" });
    await owner.end(await owner.claimOnly("r0001", { limit: 1 }), { kind: "dead" });
    await owner.claimOnly("r0002");
  }),
  "the rest of a key goes on behind its head when that loan has lapsed": staged(async ({ owner, other, time }) => {
    await owner.add(...records(3, () => ({ orderingKey: "key" })));
    await owner.claimOnly("r0000", { limit: 1, loanMs: LOAN_MS });
    await time.pass(LOAN_MS);
    assert.deepEqual(await other.claimIds(), idsAt(0, 1, 2));
  }),
  "a record is not lent past one of its key that was lent with it before": staged(async ({ owner, other }) => {
    await owner.add(...records(3, () => ({ orderingKey: "key" })));
    const [head, second] = await owner.claim({ limit: 2 });
    assert.ok(head !== undefined && second !== undefined);
    await owner.end(head, dueAtOnce(1));
    assert.deepEqual(await other.claimIds(), idsAt(0));
    await owner.end(second, dueAtOnce(0));
    assert.deepEqual(await other.claimIds(), []);
  }),
  "a limit does not let a record pass its key's head": staged(async ({ owner }) => {
    await owner.add(...records(4, (i) => ({ orderingKey: i === 1 ? "b" : "a" })));
    assert.deepEqual(await owner.claimIds({ limit: 1 }), idsAt(0));
    assert.deepEqual(await owner.claimIds({ limit: 1 }), idsAt(1));
    assert.deepEqual(await owner.claimIds({ limit: 1 }), []);
  }),
  "finds what is due behind hundreds that wait": staged(async ({ owner }) => {
    await owner.add(...records(700, (i) => ({ orderingKey: i < 600 ? "blocked" : `key-${i}` })));
    await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    assert.deepEqual(await owner.claimIds({ limit: 2 }), idsAt(600, 601));
  }),
  "keys are per route and binding": staged(async ({ owner }) => {
    const places = [
      { routeId: "route", bindingId: "binding" },
      { routeId: "route", bindingId: "binding-2" },
      { routeId: "route-2", bindingId: "binding" },
    ];
    await owner.add(...places.map((place, i) => record(`head ${i}`, { ...place, orderingKey: "key" })));
    await owner.add(...places.map((place, i) => record(`rest ${i}`, { ...place, orderingKey: "key" })));
    await owner.end(await owner.take("head 0"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    assert.deepEqual(await owner.claimIds(places[0]), []);
    assert.deepEqual(await owner.claimIds(places[1]), ["head 1", "rest 1"]);
    assert.deepEqual(await owner.claimIds(places[2]), ["head 2", "rest 2"]);
  }),
  "a key may be named as what every object has": staged(async ({ owner }) => {
    const keys = ["__proto__", "constructor", "toString", "undefined", "null"];
    await owner.add(...records(keys.length, (i) => ({ orderingKey: keys[i] })), record("none"));
    await owner.take("r0000");
    assert.deepEqual(await owner.claimIds(), [...idsAt(1, 2, 3, 4), "none"]);
  }),
  "two owners that fail now and then keep the order of each key": staged(async ({ owner, other, time, signal }) => {
    const all = records(75, (i) => ({ orderingKey: `key-${i % 5}` }));
    await owner.add(...all);
    const delivered: string[] = [];
    let sends = 0;
    const drain = async (hands: typeof owner): Promise<void> => {
      while (delivered.length < all.length) {
        signal.throwIfAborted();
        const claims = await hands.claim({ limit: 10 });
        if (claims.length === 0) await time.pass(10);
        const failed = new Set<string | undefined>();
        for (const claim of claims) {
          const { id, orderingKey } = claim.record;
          const fails = failed.has(orderingKey) || ++sends % 4 === 0;
          if (fails) failed.add(orderingKey);
          else delivered.push(id);
          const retry = { kind: "retry", delayMs: 5, attempts: claim.attempts + 1 } as const;
          assert.equal(await hands.end(claim, fails ? retry : { kind: "done" }), true);
        }
      }
    };
    await Promise.all([drain(owner), drain(other)]);
    for (let key = 0; key < 5; key++) {
      const expected = all.filter((_, i) => i % 5 === key).map(({ id }) => id);
      assert.deepEqual(
        delivered.filter((id) => expected.includes(id)),
        expected,
      );
    }
  }),
} as const satisfies Record<string, OutboxCheck>;
