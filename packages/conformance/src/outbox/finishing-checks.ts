import assert from "node:assert/strict";
import { type OutboxCheck, staged } from "./check.ts";
import { idsAt, record, records } from "./outbox-records.ts";
import { dueAtOnce, endOf } from "./owner.ts";

const LOAN_MS = 1_000;
const HOUR_MS = 3_600_000;

/** How loans end, and what a record's status is meanwhile. */
export const FINISHING_CHECKS = {
  "a delivered record is done": staged(async ({ owner, other }) => {
    await owner.add(record("a"));
    assert.equal(await owner.status("a"), "pending");
    const claim = await owner.claimOnly("a");
    assert.equal(await other.status("a"), "pending");
    assert.equal(await owner.end(claim, { kind: "done" }), true);
    assert.equal(await other.status("a"), "done");
    assert.deepEqual(await other.claimIds(), []);
  }),
  "a record that is given up is dead": staged(async ({ owner, other }) => {
    await owner.add(record("a"));
    assert.equal(await owner.end(await owner.claimOnly("a"), { kind: "dead" }), true);
    assert.equal(await other.status("a"), "dead");
    assert.deepEqual(await other.claimIds(), []);
  }),
  "the status of what is not there is unknown": staged(async ({ owner }) => {
    await owner.add(record("a"));
    for (const id of ["b", "", "__proto__", "envelope-a"]) assert.equal(await owner.status(id), undefined);
  }),
  "a record to be tried again is lent when it is due, and not before": staged(async ({ owner, other, time }) => {
    await owner.add(record("a"), record("b"));
    assert.equal(await owner.end(await owner.take("a"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 }), true);
    assert.equal(await owner.end(await owner.take("b"), { kind: "retry", delayMs: LOAN_MS, attempts: 1 }), true);
    assert.equal(await owner.status("a"), "pending");
    await time.pass(LOAN_MS);
    assert.deepEqual(await other.claimIds(), ["b"]);
  }),
  "a record is due in the millisecond that its retry names": staged(async ({ owner, time }) => {
    await owner.add(record("a"));
    await owner.end(await owner.claimOnly("a"), { kind: "retry", delayMs: 60_000, attempts: 1 });
    await time.pass(60_000 - 1);
    assert.deepEqual(await owner.claimIds(), []);
    await time.pass(1);
    await owner.claimOnly("a");
  }),
  "a record to be tried again keeps its place": staged(async ({ owner, time }) => {
    await owner.add(...records(3));
    const claim = await owner.take("r0000");
    await owner.end(claim, { kind: "retry", delayMs: LOAN_MS, attempts: 0 });
    await time.pass(LOAN_MS);
    assert.deepEqual(await owner.claimIds(), idsAt(0, 1, 2));
  }),
  "attempts are what the last retry said": staged(async ({ owner }) => {
    await owner.add(record("a"));
    for (const attempts of [1, 2, 2, 7, 0]) {
      await owner.end(await owner.claimOnly("a"), dueAtOnce(attempts));
      const claim = await owner.claimOnly("a");
      assert.equal(claim.attempts, attempts);
      await owner.end(claim, dueAtOnce(attempts));
    }
  }),
  "a loan ends once": staged(async ({ owner, other }) => {
    await owner.add(record("a"));
    const claim = await owner.claimOnly("a");
    assert.equal(await owner.end(claim, { kind: "done" }), true);
    assert.equal(await owner.end(claim, { kind: "done" }), false);
    assert.equal(await other.end(claim, { kind: "dead" }), false);
    assert.equal(await owner.end(claim, dueAtOnce(1)), false);
    assert.equal(await owner.status("a"), "done");
    assert.deepEqual(await owner.claimIds(), []);
  }),
  "a loan that ended in a retry has ended": staged(async ({ owner }) => {
    await owner.add(record("a"));
    const claim = await owner.claimOnly("a");
    await owner.end(claim, dueAtOnce(1));
    assert.equal(await owner.end(claim, { kind: "done" }), false);
    assert.equal(await owner.status("a"), "pending");
    assert.equal((await owner.claimOnly("a")).attempts, 1);
    assert.equal(await owner.end(claim, { kind: "done" }), false);
    assert.equal(await owner.status("a"), "pending");
  }),
  "a loan that is ended twice in one call ends once": staged(async ({ owner }) => {
    await owner.add(record("a"));
    const claim = await owner.claimOnly("a");
    assert.deepEqual(await owner.finish(endOf(claim, { kind: "done" }), endOf(claim, { kind: "dead" })), [true, false]);
    assert.equal(await owner.status("a"), "done");
  }),
  "what is said of a loan that somebody else has now is refused": staged(async ({ owner, other, time }) => {
    await owner.add(...records(3));
    const lapsed = await owner.claim({ loanMs: LOAN_MS });
    await time.pass(LOAN_MS);
    const current = await other.claim();
    assert.equal(current.length, 3);
    const [one, two, three] = lapsed;
    assert.ok(one !== undefined && two !== undefined && three !== undefined);
    assert.deepEqual(
      await owner.finish(endOf(one, { kind: "done" }), endOf(two, { kind: "dead" }), endOf(three, dueAtOnce(9))),
      [false, false, false],
    );
    for (const { record: lent, attempts } of current) {
      assert.equal(await owner.status(lent.id), "pending");
      assert.equal(attempts, 0);
    }
    assert.deepEqual(await owner.claimIds(), []);
    assert.deepEqual(await other.finish(...current.map((claim) => endOf(claim, { kind: "done" }))), [true, true, true]);
  }),
  "of a loan that has lapsed it is told truly whether the end was entered": staged(async ({ owner, other, time }) => {
    await owner.add(record("a"));
    const claim = await owner.claimOnly("a", { loanMs: LOAN_MS });
    await time.pass(LOAN_MS);
    const entered = await owner.end(claim, { kind: "done" });
    assert.equal(await owner.status("a"), entered ? "done" : "pending");
    assert.deepEqual(await other.claimIds(), entered ? [] : ["a"]);
  }),
  "what comes without the loan's token is refused": staged(async ({ owner }) => {
    await owner.add(...records(3));
    const [one, two] = await owner.claim({ limit: 2 });
    assert.ok(one !== undefined && two !== undefined);
    const outcome = { kind: "done" } as const;
    const ends = [
      { id: "r0000", token: two.token, outcome },
      { id: "r0001", token: "", outcome },
      { id: "r0001", token: one.token, outcome },
      { id: "r0002", token: one.token, outcome },
      { id: "r0002", token: "", outcome },
      { id: "unknown", token: one.token, outcome },
    ];
    assert.deepEqual(
      await owner.finish(...ends),
      ends.map(() => false),
    );
    assert.deepEqual(await owner.listIds(), idsAt(0, 1, 2));
    assert.equal(await owner.end(one, outcome), true);
  }),
  "answers for each end of a call, in its order": staged(async ({ owner }) => {
    await owner.add(...records(5));
    const claims = await owner.claim({ limit: 4 });
    const [one, two, three, four] = claims;
    assert.ok(one !== undefined && two !== undefined && three !== undefined && four !== undefined);
    await owner.end(two, { kind: "done" });
    assert.deepEqual(
      await owner.finish(
        endOf(four, { kind: "dead" }),
        endOf(two, { kind: "dead" }),
        { id: "unknown", token: "token", outcome: { kind: "done" } },
        endOf(three, { kind: "retry", delayMs: HOUR_MS, attempts: 2 }),
        endOf(one, { kind: "done" }),
      ),
      [true, false, false, true, true],
    );
    const statuses = await Promise.all(idsAt(0, 1, 2, 3, 4).map((id) => owner.status(id)));
    assert.deepEqual(statuses, ["done", "done", "pending", "dead", "pending"]);
  }),
  "ends nothing when given nothing": staged(async ({ owner }) => {
    await owner.add(record("a"));
    await owner.claimOnly("a");
    assert.deepEqual(await owner.finish(), []);
    assert.equal(await owner.status("a"), "pending");
  }),
  "ends hundreds of loans at once": staged(async ({ owner }) => {
    await owner.add(...records(600));
    const claims = [...(await owner.claim()), ...(await owner.claim())];
    const entered = await owner.finish(
      ...claims.map((claim, i) => endOf(claim, { kind: i % 2 === 0 ? "done" : "dead" })),
    );
    assert.equal(entered.filter((entry) => entry).length, 600);
    assert.equal(await owner.status("r0598"), "done");
    assert.equal(await owner.status("r0599"), "dead");
    assert.deepEqual(await owner.listIds(), []);
  }),
  "finds the pending record that redrives an entry": staged(async ({ owner, other }) => {
    await owner.add(record("a", { entryId: "entry-a" }), record("b"), record("c", { entryId: "entry-c" }));
    assert.equal(await owner.redriving("entry-a"), "a");
    assert.equal(await other.redriving("entry-c"), "c");
    for (const unknown of ["entry", "", "a", "undefined"]) assert.equal(await owner.redriving(unknown), undefined);
    const claim = await owner.take("a");
    assert.equal(await owner.redriving("entry-a"), "a");
    await owner.end(claim, { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
    assert.equal(await owner.redriving("entry-a"), "a");
  }),
  "a finished record redrives nothing, and another may": staged(async ({ owner }) => {
    for (const [index, kind] of (["done", "dead"] as const).entries()) {
      await owner.add(record(`${index}`, { entryId: "entry" }));
      await owner.end(await owner.take(`${index}`), { kind });
      assert.equal(await owner.redriving("entry"), undefined);
    }
    await owner.add(record("last", { entryId: "entry" }));
    assert.equal(await owner.redriving("entry"), "last");
  }),
} as const satisfies Record<string, OutboxCheck>;
