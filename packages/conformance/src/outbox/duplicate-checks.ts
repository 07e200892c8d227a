import assert from "node:assert/strict";
import type { OutboxRecord } from "@bridge/ports";
import { assertSame, type OutboxCheck, staged, type SuiteTime } from "./check.ts";
import { again, envelopeOf, idAt, idsAt, record, records } from "./outbox-records.ts";
import type { Owner } from "./owner.ts";

const FIRST = record("a", { envelope: { payload: Uint8Array.of(1) }, address: "first" });
const REPEAT = again(FIRST, { address: "repeat", envelope: { ...FIRST.envelope, payload: Uint8Array.of(2) } });
const OTHER_PAYLOAD = again(FIRST, { payloadDigest: "another digest" });

/** How long evidence stays in the cases in which it is forgotten. */
const SHORT_RETENTION_MS = 1_000;
/** How long after that it may still be there, as a store looks through its records from time to time only. */
const LAZINESS_MS = 600_000;
const STEP_MS = 1_000;

/** A record is unique by route, binding and its identity, which is that of its message if it has none of its own. */
export const DUPLICATE_CHECKS = {
  "a repeat of a pending record is a duplicate of it": staged(async ({ owner, other }) => {
    await owner.add(FIRST);
    assert.deepEqual(await owner.persist(REPEAT), [{ kind: "duplicate", id: "a", status: "pending" }]);
    assert.deepEqual(await other.persist(REPEAT), [{ kind: "duplicate", id: "a", status: "pending" }]);
    assert.deepEqual(await owner.listIds(), ["a"]);
    assert.equal(await owner.status(REPEAT.id), undefined);
    assertSame((await owner.claimOnly("a")).record, FIRST);
  }),
  "a repeat of a lent record is a duplicate of it": staged(async ({ owner, other }) => {
    await owner.add(FIRST);
    const claim = await owner.claimOnly("a");
    assert.deepEqual(await other.persist(REPEAT), [{ kind: "duplicate", id: "a", status: "pending" }]);
    assert.deepEqual(await other.claimIds(), []);
    assert.equal(await owner.end(claim, { kind: "done" }), true);
  }),
  "a repeat of a record that waits for a retry is a duplicate of it": staged(async ({ owner }) => {
    await owner.add(FIRST);
    await owner.end(await owner.claimOnly("a"), { kind: "retry", delayMs: 60_000, attempts: 2 });
    assert.deepEqual(await owner.persist(REPEAT), [{ kind: "duplicate", id: "a", status: "pending" }]);
    assert.equal((await owner.take("a")).attempts, 2);
  }),
  "a repeat of a delivered record is a duplicate of it": whenFinished("done"),
  "a repeat of a record that was given up is a duplicate of it": whenFinished("dead"),
  "another payload under the same id is a conflict, and nothing of it is written": staged(async ({ owner, other }) => {
    await owner.add(FIRST);
    assert.deepEqual(await other.persist(OTHER_PAYLOAD), [{ kind: "conflict" }]);
    assert.equal(await owner.status(OTHER_PAYLOAD.id), undefined);
    assert.deepEqual(await owner.listIds(), ["a"]);
    const claim = await owner.claimOnly("a");
    assertSame(claim.record, FIRST);
    await owner.end(claim, { kind: "done" });
    assert.deepEqual(await owner.persist(OTHER_PAYLOAD), [{ kind: "conflict" }]);
    assert.deepEqual(await owner.claimIds(), []);
  }),
  "a repeat within one call is a duplicate, another payload a conflict": staged(async ({ owner }) => {
    assert.deepEqual(await owner.persist(FIRST, REPEAT, OTHER_PAYLOAD), [
      { kind: "persisted" },
      { kind: "duplicate", id: "a", status: "pending" },
      { kind: "conflict" },
    ]);
    assertSame((await owner.claimOnly("a")).record, FIRST);
  }),
  "answers for each record of a call, and takes those that are new": staged(async ({ owner }) => {
    const [one, two, three, four] = records(4) as [OutboxRecord, OutboxRecord, OutboxRecord, OutboxRecord];
    await owner.add(one, three);
    assert.deepEqual(await owner.persist(again(one), two, again(three, { payloadDigest: "other" }), four), [
      { kind: "duplicate", id: one.id, status: "pending" },
      { kind: "persisted" },
      { kind: "conflict" },
      { kind: "persisted" },
    ]);
    assert.deepEqual([...(await owner.listIds())].toSorted(), idsAt(0, 1, 2, 3));
  }),
  "saying the same record again is a duplicate of itself": staged(async ({ owner }) => {
    await owner.add(FIRST);
    assert.deepEqual(await owner.persist(FIRST), [{ kind: "duplicate", id: "a", status: "pending" }]);
    assert.deepEqual(await owner.listIds(), ["a"]);
  }),
  "persists nothing when given nothing": staged(async ({ owner }) => {
    assert.deepEqual(await owner.persist(), []);
    assert.deepEqual(await owner.listIds(), []);
  }),
  "the same message on another route or binding is no duplicate": staged(async ({ owner }) => {
    const rest = ["route", "route-2"].flatMap((routeId) =>
      ["binding", "binding-2"].map((bindingId) => again(FIRST, { id: `${routeId} ${bindingId}`, routeId, bindingId })),
    );
    await owner.add(...rest);
    for (const { id, routeId, bindingId } of rest) await owner.claimOnly(id, { routeId, bindingId });
  }),
  "names that would run together are told apart": staged(async ({ owner }) => {
    const rivals = ["/", ":", "|", " ", ",", '","', "\u0000", "\u001f", ""].flatMap((glue, i) => [
      named(`left ${i}`, `a${i}${glue}b`, "c", "d"),
      named(`middle ${i}`, `a${i}`, `b${glue}c`, "d"),
      named(`right ${i}`, `a${i}`, "b", `c${glue}d`),
    ]);
    await owner.add(...rivals);
    for (const { id, routeId, bindingId } of rivals) await owner.claimOnly(id, { routeId, bindingId });
  }),
  "a repeat under an identity of its own is a duplicate, whatever its envelope's id": staged(
    async ({ owner, other }) => {
      await owner.add(record("a", { identity: "redrive", entryId: "entry" }));
      const repeat = record("b", { identity: "redrive", entryId: "entry" });
      assert.deepEqual(await owner.persist(repeat), [{ kind: "duplicate", id: "a", status: "pending" }]);
      assert.deepEqual(await other.persist(repeat), [{ kind: "duplicate", id: "a", status: "pending" }]);
      await owner.end(await owner.claimOnly("a"), { kind: "dead" });
      assert.deepEqual(await other.persist(repeat, record("c", { identity: "redrive 2", entryId: "entry" })), [
        { kind: "duplicate", id: "a", status: "dead" },
        { kind: "persisted" },
      ]);
      assert.deepEqual(await owner.persist(record("d", { identity: "redrive", payloadDigest: "other" })), [
        { kind: "conflict" },
      ]);
      await owner.add(record("e", { identity: "redrive", routeId: "route-2" }));
      await owner.add(record("f", { identity: "redrive", bindingId: "binding-2" }));
      assert.deepEqual(await other.claimIds(), ["c"]);
    },
  ),
  "an identity of its own and the id of a message are told apart, however alike": staged(async ({ owner }) => {
    const names = ["envelope-a", "=envelope-a", "~envelope-a", "", "=", "~", '["envelope-a"]'];
    await owner.add(
      ...names.map((id, i) => record(`message ${i}`, { envelope: { id } })),
      ...names.map((identity, i) => record(`redrive ${i}`, { identity, envelope: { id: "envelope-a" } })),
    );
    assert.equal((await owner.claimIds()).length, names.length * 2);
  }),
  "the id of what was received does not count": staged(async ({ owner }) => {
    const received = envelopeOf("received");
    await owner.add(record("a", { received }), record("b", { received }));
  }),
  "evidence stays while the retention lasts": staged(async ({ owner, time }) => {
    await finishTwo(owner);
    await time.pass(STEP_MS);
    await assertEvidence(owner);
  }),
  "evidence stays to the last millisecond of the retention": staged(async ({ owner, time }) => {
    await finishTwo(owner);
    await time.pass(60_000 - 1);
    await assertEvidence(owner);
  }, 60_000),
  "evidence that is older than the retention is forgotten, delivered or dead": staged(async ({ owner, time }) => {
    for (const kind of ["done", "dead"] as const) {
      const original = record(kind);
      await owner.add(original);
      await owner.end(await owner.claimOnly(kind), { kind });
      await time.pass(SHORT_RETENTION_MS);
      await forgotten(owner, original, time);
      assert.equal(await owner.status(kind), undefined);
      assert.equal(await owner.status(`${kind}-again`), "pending");
      await owner.end(await owner.claimOnly(`${kind}-again`), { kind: "done" });
    }
  }, SHORT_RETENTION_MS),
  "what is not finished is never forgotten": staged(async ({ owner, time }) => {
    await owner.add(...records(5));
    const [fresh, waiting, lent, lapsed, finished] = idsAt(0, 1, 2, 3, 4);
    await owner.end(await owner.take(waiting), { kind: "retry", delayMs: 1, attempts: 1 });
    await owner.take(lent);
    await owner.take(lapsed, 1);
    const last = await owner.take(finished);
    await owner.end(last, { kind: "done" });
    await time.pass(SHORT_RETENTION_MS);
    await forgotten(owner, last.record, time);
    assert.deepEqual(await owner.listIds(), [fresh, waiting, lent, lapsed, `${finished}-again`]);
    for (const id of [fresh, waiting, lent, lapsed]) assert.equal(await owner.status(id), "pending");
  }, SHORT_RETENTION_MS),
} as const satisfies Record<string, OutboxCheck>;

function whenFinished(kind: "done" | "dead"): OutboxCheck {
  return staged(async ({ owner, other }) => {
    await owner.add(FIRST);
    await owner.end(await owner.claimOnly("a"), { kind });
    assert.deepEqual(await other.persist(REPEAT), [{ kind: "duplicate", id: "a", status: kind }]);
    assert.deepEqual(await owner.claimIds(), []);
    assert.equal(await owner.claimOne("a"), undefined);
    assert.equal(await owner.status("a"), kind);
  });
}

function named(id: string, routeId: string, bindingId: string, envelopeId: string): OutboxRecord {
  return record(id, { routeId, bindingId, envelope: { id: envelopeId } });
}

async function finishTwo(owner: Owner): Promise<void> {
  await owner.add(...records(2));
  await owner.end(await owner.take(idAt(0)), { kind: "done" });
  await owner.end(await owner.take(idAt(1)), { kind: "dead" });
}

async function assertEvidence(owner: Owner): Promise<void> {
  assert.deepEqual(await owner.persist(...records(2).map((original) => again(original))), [
    { kind: "duplicate", id: idAt(0), status: "done" },
    { kind: "duplicate", id: idAt(1), status: "dead" },
  ]);
}

/** Persists the message again until it is new. */
async function forgotten(owner: Owner, original: OutboxRecord, time: SuiteTime): Promise<void> {
  for (let passed = 0; passed < LAZINESS_MS; passed += STEP_MS) {
    const [result] = await owner.persist(again(original));
    if (result?.kind === "persisted") return;
    await time.pass(STEP_MS);
  }
  assert.fail(`${original.id} is evidence still, ${LAZINESS_MS} ms after the retention`);
}
