import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeadLetter, DlqStore } from "@bridge/ports";
import { isSpoiled, sealJob } from "@bridge/ports/internal";
import { adminOf, assertSame, idsOf } from "./check.ts";
import { at, deadLetter } from "./dead-letters.ts";
import type { DlqPartCheck, DlqPartsSubject } from "./dlq-parts-subject.ts";
import { jobsOf, later, marksOf, trashOf } from "./parts.ts";

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const LOOK_MS = 50;
const NOTE = { at: at(1), by: "alice", text: "asked the shop" };
const PURGED = deadLetter("purged", { reason: "purged" });
const THERE = deadLetter("there", { reason: "there" });

/** A disk, or somebody, may have changed what the trash has. */
export const CHANGED_TRASH_CHECKS = {
  "an entry of the trash that somebody has given the id of another one comes back beside it, as one that is spoiled":
    async (subject, signal) => {
      await using store = await renamed(subject, signal);
      assert.deepEqual(await trashOf(store).restore("batch", 10, signal), { restored: 1, present: 0 });
      await assertBoth(store, signal);
    },
  "an entry of the trash that somebody has given the id of another one stays when that is purged and brought back, too":
    async (subject, signal) => {
      for (const batch of ["batch", "other"]) {
        await using store = await renamed(subject, signal);
        assert.deepEqual(await trashOf(store).move(["there"], batch, later(), signal), new Set(["there"]));
        const all = [...new Set([batch, "batch"])];
        for (const each of all) await trashOf(store).restore(each, 10, signal);
        for (const each of all) await trashOf(store).restore(each, 10, signal);
        await assertBoth(store, signal);
      }
    },
  "an entry of the trash that somebody has given the id of another one stays when that is delivered": async (
    subject,
    signal,
  ) => {
    await using store = await renamed(subject, signal);
    assert.deepEqual(await adminOf(store).delete(["there"], signal, { delivered: true }), new Set(["there"]));
    assert.equal(await trashOf(store).count(10, signal, "batch"), 1);
    assert.deepEqual(await trashOf(store).restore("batch", 10, signal), { restored: 1, present: 0 });
    const [id = "", ...others] = await idsOf(store, signal);
    assert.deepEqual(others, []);
    await assert.rejects(store.get(id, signal), isSpoiled);
  },
  "operators 3.5.7: what is purged stays until the end that its job says, whatever somebody has made of the end beside it":
    async (subject, signal) => {
      const now = Date.now();
      await using store = await withEnds(subject, { undoUntil: now + HOUR_MS, endedAt: now, until: 5 }, signal);
      assert.equal(await trashOf(store).count(10, signal, "job-1"), 1);
      assert.deepEqual(await trashOf(store).restore("job-1", 10, signal), { restored: 1, present: 0 });
      assertSame(await store.get("purged", signal), PURGED);
    },
  "operators 3.5.7: of what is purged nothing is left a day after its job says so, whatever somebody has made of the end beside it":
    async (subject, signal) => {
      const endedAt = Date.now() - DAY_MS - 2 * HOUR_MS;
      const times = { undoUntil: endedAt + HOUR_MS, endedAt, until: 4e12 };
      await using store = await withEnds(subject, times, signal);
      while ((await trashOf(store).count(10, signal, "job-1")) > 0) await sleep(LOOK_MS, undefined, { signal });
      assert.deepEqual(await trashOf(store).restore("job-1", 10, signal), { restored: 0, present: 0 });
      assert.deepEqual(await idsOf(store, signal), []);
    },
} as const satisfies Record<string, DlqPartCheck>;

/** A store that has one entry, and another one in a batch of its trash, under the id of the first. */
async function renamed(subject: DlqPartsSubject, signal: AbortSignal): Promise<DlqStore> {
  const rename = subject.renameInTrash?.bind(subject);
  assert.ok(rename !== undefined, "the subject has no renameInTrash: give one, or excuse the case");
  const store = await subject.open();
  for (const entry of [PURGED, THERE]) await store.put(entry, signal);
  await marksOf(store).mark(new Map([["purged", { note: NOTE, quarantined: true }]]), signal);
  await trashOf(store).move(["purged"], "batch", later(), signal);
  return rename(store, { batch: "batch", id: "purged" }, "there");
}

/** The one as it was, the other spoiled. */
async function assertBoth(store: DlqStore, signal: AbortSignal): Promise<void> {
  assert.equal(await trashOf(store).count(10, signal), 0);
  const ids = await idsOf(store, signal);
  assert.equal(ids.length, 2);
  const got = await Promise.all(ids.map((id) => store.get(id, signal).catch((error: unknown) => error)));
  assert.equal(got.filter(isSpoiled).length, 1);
  const whole = got.find((each) => !isSpoiled(each));
  assertSame(whole as DeadLetter, THERE);
}

/** A store that has one entry in the trash, with a sealed job of its batch, and another end than that says. */
async function withEnds(
  subject: DlqPartsSubject,
  { until, ...times }: { readonly undoUntil: number; readonly endedAt: number; readonly until: number },
  signal: AbortSignal,
): Promise<DlqStore> {
  const moveEnds = subject.moveEnds?.bind(subject);
  assert.ok(moveEnds !== undefined, "the subject has no moveEnds: give one, or excuse the case");
  const store = await subject.open();
  const beside = { id: "job-1", revision: 1, state: "completed", createdAt: at(0) };
  const document = sealJob(beside, JSON.stringify({ ...times, undoWithinMs: HOUR_MS }));
  await jobsOf(store).put({ ...beside, document }, undefined, signal);
  await store.put(PURGED, signal);
  await trashOf(store).move(["purged"], "job-1", later(), signal);
  return moveEnds(store, "job-1", until);
}
