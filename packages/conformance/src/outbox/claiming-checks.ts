import assert from "node:assert/strict";
import { assertSame, type OutboxCheck, staged } from "./check.ts";
import { createdAt, idsAt, record, records } from "./outbox-records.ts";
import { dueAtOnce, idsOf } from "./owner.ts";

const LOAN_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Who gets which records, and for how long. */
export const CLAIMING_CHECKS = {
  "lends oldest first, up to the limit": staged(async ({ owner, other }) => {
    await owner.add(...records(10));
    assert.deepEqual(await owner.claimIds({ limit: 3 }), idsAt(0, 1, 2));
    assert.deepEqual(await other.claimIds({ limit: 1 }), idsAt(3));
    assert.deepEqual(await owner.claimIds(), idsAt(4, 5, 6, 7, 8, 9));
    assert.deepEqual(await owner.claimIds(), []);
  }),
  "the oldest is what was persisted first, within one call too": staged(async ({ owner }) => {
    for (const [index, id] of ["c", "a", "b"].entries()) await owner.add(record(id, { createdAt: createdAt(index) }));
    await owner.add(...["e", "d"].map((id) => record(id, { createdAt: createdAt(9) })));
    assert.deepEqual(await owner.claimIds(), ["c", "a", "b", "e", "d"]);
  }),
  "a record whose maker's clock was behind is no older for it": staged(async ({ owner }) => {
    await owner.add(record("first", { createdAt: createdAt(9) }));
    await owner.add(record("second", { createdAt: createdAt(1) }));
    assert.deepEqual(await owner.claimIds(), ["first", "second"]);
  }),
  "a record whose maker's clock was ahead is due at once": staged(async ({ owner, time }) => {
    await owner.add(record("a", { createdAt: time.now() + HOUR_MS }));
    await owner.claimOnly("a");
  }),
  "lends nothing at a limit of 0": staged(async ({ owner }) => {
    await owner.add(...records(2));
    assert.deepEqual(await owner.claimIds({ limit: 0 }), []);
    assert.deepEqual(await owner.claimIds(), idsAt(0, 1));
  }),
  "lends nothing of an empty outbox, or of a route or binding that has nothing": staged(async ({ owner }) => {
    assert.deepEqual(await owner.claimIds(), []);
    await owner.add(record("a"));
    for (const request of [{ routeId: "other" }, { bindingId: "other" }, { routeId: "binding", bindingId: "route" }]) {
      assert.deepEqual(await owner.claimIds(request), []);
    }
  }),
  "lends the records of one route and binding": staged(async ({ owner }) => {
    await owner.add(
      ...records(8, (i) => ({ routeId: i % 2 === 0 ? "even" : "odd", bindingId: i < 4 ? "low" : "high" })),
    );
    assert.deepEqual(await owner.claimIds({ routeId: "odd", bindingId: "high" }), idsAt(5, 7));
    assert.deepEqual(await owner.claimIds({ routeId: "even", bindingId: "low" }), idsAt(0, 2));
  }),
  "a lent record is lent to nobody else": staged(async ({ owner, other }) => {
    await owner.add(...records(2));
    await owner.claim({ limit: 1 });
    assert.deepEqual(await other.claimIds(), idsAt(1));
    assert.deepEqual(await owner.claimIds(), []);
    for (const id of idsAt(0, 1)) assert.equal(await other.claimOne(id), undefined);
  }),
  "each loan has a token of its own": staged(async ({ owner }) => {
    await owner.add(...records(50));
    const first = await owner.claim();
    await owner.finish(
      ...first.map(({ record: { id }, token }) => ({
        id,
        token,
        outcome: dueAtOnce(1),
      })),
    );
    const tokens = [...first, ...(await owner.claim())].map(({ token }) => token);
    assert.equal(new Set(tokens).size, 100);
  }),
  "a lapsed loan can be had again, at the record's old place": staged(async ({ owner, other, time }) => {
    await owner.add(...records(3));
    const [lapsing] = await owner.claim({ limit: 1, loanMs: LOAN_MS });
    await time.pass(LOAN_MS);
    const [claim, ...more] = await other.claim({ limit: 2 });
    assert.deepEqual(idsOf(more), idsAt(1));
    assert.deepEqual(claim?.record.id, lapsing?.record.id);
    assert.notEqual(claim?.token, lapsing?.token);
    assertSame(claim?.record ?? record("none"), records(1)[0] ?? record("none"));
  }),
  "a loan that lapses charges nothing": staged(async ({ owner, time }) => {
    await owner.add(record("a"));
    await owner.end(await owner.claimOnly("a"), dueAtOnce(3));
    await owner.claimOnly("a", { loanMs: LOAN_MS });
    await time.pass(LOAN_MS);
    assert.equal((await owner.claimOnly("a")).attempts, 3);
  }),
  "a loan lasts to its last millisecond and no longer": staged(async ({ owner, other, time }) => {
    await owner.add(record("a"), record("b"));
    await owner.claim({ limit: 1, loanMs: 60_000 });
    await owner.take("b", 60_000);
    await time.pass(60_000 - 1);
    assert.deepEqual(await other.claimIds(), []);
    assert.equal(await other.claimOne("b"), undefined);
    await time.pass(1);
    assert.deepEqual(await other.claimIds(), ["a", "b"]);
  }),
  "each loan of one record has its own length": staged(async ({ owner, time }) => {
    await owner.add(...records(2));
    await owner.claim({ limit: 1 });
    await owner.claim({ loanMs: LOAN_MS });
    await time.pass(LOAN_MS);
    assert.deepEqual(await owner.claimIds(), idsAt(1));
  }),
  "a loan lasts as long when the clock is set": staged(async ({ owner, time }) => {
    await owner.add(...records(2));
    await owner.claim({ limit: 1, loanMs: 60_000 });
    time.jump(24 * HOUR_MS);
    assert.deepEqual(await owner.claimIds({ loanMs: 60_000 }), idsAt(1));
    time.jump(-48 * HOUR_MS);
    await time.pass(60_000);
    assert.deepEqual(await owner.claimIds(), idsAt(0, 1));
  }),
  "a new record is due even when the clock is set back": staged(async ({ owner, time }) => {
    await owner.add(record("a"));
    time.jump(-24 * HOUR_MS);
    await owner.claimOnly("a");
  }),
  "a first loan tells of no attempts": staged(async ({ owner }) => {
    await owner.add(...records(2));
    assert.deepEqual(
      (await owner.claim({ limit: 1 })).map(({ attempts }) => attempts),
      [0],
    );
    assert.equal((await owner.take("r0001")).attempts, 0);
  }),
  "claimOne lends the record that is asked for": staged(async ({ owner, other }) => {
    await owner.add(...records(3));
    const claim = await owner.take("r0001");
    assertSame(claim.record, records(2)[1] ?? record("none"));
    assert.deepEqual(await other.claimIds(), idsAt(0, 2));
    assert.equal(await other.end(claim, { kind: "done" }), true);
  }),
  "claimOne lends a record that is not due, and its attempts with it": staged(async ({ owner }) => {
    await owner.add(record("a"));
    await owner.end(await owner.claimOnly("a"), { kind: "retry", delayMs: HOUR_MS, attempts: 4 });
    assert.equal((await owner.take("a")).attempts, 4);
  }),
  "claimOne lends a record behind another of its key": staged(async ({ owner }) => {
    await owner.add(...records(3, () => ({ orderingKey: "key" })));
    await owner.take("r0002");
    assert.deepEqual(await owner.claimIds(), idsAt(0, 1));
  }),
  "claimOne lends nothing that is lent, and lends it when that loan has lapsed": staged(
    async ({ owner, other, time }) => {
      await owner.add(record("a"), record("b"));
      await owner.claim({ limit: 1, loanMs: LOAN_MS });
      await owner.take("b");
      assert.equal(await other.claimOne("b"), undefined);
      await time.pass(LOAN_MS);
      await other.take("a");
      assert.equal(await other.claimOne("b"), undefined);
    },
  ),
  "claimOne lends nothing that is finished or unknown": staged(async ({ owner }) => {
    await owner.add(...records(2));
    await owner.end(await owner.take("r0000"), { kind: "done" });
    await owner.end(await owner.take("r0001"), { kind: "dead" });
    for (const id of ["r0000", "r0001", "r0002", "", "__proto__"]) assert.equal(await owner.claimOne(id), undefined);
  }),
  "a loan of claimOne lapses too": staged(async ({ owner, time }) => {
    await owner.add(record("a"));
    await owner.take("a", LOAN_MS);
    await time.pass(LOAN_MS);
    await owner.claimOnly("a");
  }),
} as const satisfies Record<string, OutboxCheck>;
