import assert from "node:assert/strict";
import { assertDue } from "./assert-due.ts";
import { assertSame, type OutboxCheck, restarted } from "./check.ts";
import { again, createdAt, envelopeOf, idsAt, record, type RecordFields, records } from "./outbox-records.ts";
import { dueAtOnce, endOf, idsOf } from "./owner.ts";

const HOUR_MS = 3_600_000;

function full(index: number): RecordFields {
  return {
    entryId: `entry-${index}`,
    orderingKey: `key-${index % 3}`,
    envelope: { payload: Uint8Array.of(0, index, 0xff), expiresAt: createdAt(index) + HOUR_MS },
    received: envelopeOf(`received-${index}`),
  };
}

/** What is left after an abrupt end. */
export const SURVIVING_CHECKS = {
  "what was persisted survives an abrupt end": restarted(
    async ({ owner }) => {
      const all = records(40, full);
      await owner.add(...all.slice(0, 20));
      await Promise.all(all.slice(20).map((entry) => owner.add(entry)));
    },
    async ({ owner }) => {
      const claims = new Map((await owner.claim()).map((claim) => [claim.record.id, claim]));
      for (const entry of records(40, full)) assertSame(claims.get(entry.id)?.record ?? record("none"), entry);
      assert.equal(claims.size, 40);
    },
  ),
  "an abrupt end leaves all records of a call or none": restarted(
    async ({ owner, signal }) => {
      const all = records(60, () => ({ envelope: { payload: new Uint8Array(20_000).fill(1) } }));
      const known: string[] = [];
      const calls = Array.from({ length: 6 }, (_, i) => {
        const entries = all.slice(i * 10, i * 10 + 10);
        // What has not answered by the end may be there or not; that it fails then is no wonder.
        void owner.store.persist(entries, signal).then(
          () => known.push(...entries.map(({ id }) => id)),
          () => {},
        );
        return entries.map(({ id }) => id);
      });
      await new Promise((resolve) => setImmediate(resolve));
      return { calls, known: [...known] };
    },
    async ({ owner }, { calls, known }) => {
      const there = new Set(await owner.listIds());
      for (const ids of calls) {
        const kept = ids.filter((id) => there.has(id)).length;
        assert.ok(kept === 0 || kept === ids.length, `${kept} of the ${ids.length} records of a call are there`);
      }
      for (const id of known) assert.ok(there.has(id), `${id} was persisted and is not there`);
    },
  ),
  "the order survives an abrupt end, and what comes later is younger": restarted(
    async ({ owner }) => {
      for (const entry of records(6, () => ({ orderingKey: "key" }))) await owner.add(entry);
    },
    async ({ owner }) => {
      await owner.add(record("later", { orderingKey: "key", createdAt: createdAt(0) - 1 }));
      assert.deepEqual(await owner.listIds(), [...idsAt(0, 1, 2, 3, 4, 5), "later"]);
      assert.deepEqual(await owner.claimIds(), [...idsAt(0, 1, 2, 3, 4, 5), "later"]);
    },
  ),
  "how loans ended survives an abrupt end": restarted(
    async ({ owner, time }) => {
      await owner.add(...records(3));
      const [one, two, three] = await owner.claim();
      assert.ok(one !== undefined && two !== undefined && three !== undefined);
      const dueAt = time.now() + HOUR_MS;
      const ends = [
        endOf(one, { kind: "done" }),
        endOf(two, { kind: "dead" }),
        endOf(three, { kind: "retry", delayMs: HOUR_MS, attempts: 3 }),
      ];
      assert.deepEqual(await owner.finish(...ends), [true, true, true]);
      return { ends, dueAt };
    },
    async ({ owner, time }, { ends, dueAt }) => {
      assert.deepEqual(await Promise.all(idsAt(0, 1, 2).map((id) => owner.status(id))), ["done", "dead", "pending"]);
      const [head] = await owner.list();
      assert.deepEqual([head?.id, head?.attempts], ["r0002", 3]);
      assertDue(head, dueAt, time.now() + HOUR_MS);
      assert.deepEqual(await owner.claimIds(), []);
      assert.deepEqual(await owner.finish(...ends), [false, false, false]);
      assert.equal((await owner.take("r0002")).attempts, 3);
    },
  ),
  "evidence against duplicates survives an abrupt end": restarted(
    async ({ owner }) => {
      await owner.add(...records(3));
      await owner.end(await owner.take("r0000"), { kind: "done" });
      await owner.end(await owner.take("r0001"), { kind: "dead" });
    },
    async ({ owner }) => {
      assert.deepEqual(await owner.persist(...records(3).map((original) => again(original))), [
        { kind: "duplicate", id: "r0000", status: "done" },
        { kind: "duplicate", id: "r0001", status: "dead" },
        { kind: "duplicate", id: "r0002", status: "pending" },
      ]);
      const others = records(3).map((original) => again(original, { payloadDigest: "another digest" }));
      assert.deepEqual(
        await owner.persist(...others),
        others.map(() => ({ kind: "conflict" })),
      );
    },
  ),
  "what was lent at an abrupt end is lent again, uncharged": restarted(
    async ({ owner }) => {
      await owner.add(...records(4));
      await owner.end(await owner.take("r0000"), dueAtOnce(2));
      return owner.claim({ limit: 3, loanMs: 1_000 });
    },
    async ({ owner, time }, lost) => {
      await time.pass(1_000);
      const claims = await owner.claim();
      assert.deepEqual(idsOf(claims), idsAt(0, 1, 2, 3));
      assert.deepEqual(
        claims.map(({ attempts }) => attempts),
        [2, 0, 0, 0],
      );
      const late = lost.map((claim) => endOf(claim, { kind: "done" }));
      assert.deepEqual(await owner.finish(...late), [false, false, false]);
      const tokens = [...lost, ...claims].map(({ token }) => token);
      assert.equal(new Set(tokens).size, tokens.length, "a token was given twice");
    },
  ),
  "no key is overtaken because of an abrupt end": restarted(
    async ({ owner }) => {
      await owner.add(...records(4, (i) => ({ orderingKey: i < 2 ? "waits" : "lent" })));
      await owner.end(await owner.take("r0000"), { kind: "retry", delayMs: HOUR_MS, attempts: 1 });
      await owner.take("r0002");
    },
    async ({ owner }) => {
      const ids = await owner.claimIds();
      assert.ok(!ids.includes("r0001"), "lent past the head that waits");
      assert.ok(!ids.includes("r0003") || ids.includes("r0002"), "lent past the head that was lent");
      assert.equal((await owner.backlog())[0]?.blockedKeys, 1);
    },
  ),
  "what redrives an entry survives an abrupt end": restarted(
    async ({ owner }) => owner.add(record("a", { entryId: "entry" })),
    async ({ owner }) => {
      assert.equal(await owner.redriving("entry"), "a");
      await owner.end(await owner.take("a"), { kind: "done" });
      assert.equal(await owner.redriving("entry"), undefined);
    },
  ),
} as const satisfies Record<string, OutboxCheck>;
