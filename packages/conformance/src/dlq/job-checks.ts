import assert from "node:assert/strict";
import type { DlqStore, StoredJob } from "@bridge/ports";
import { assertAborts, idsOf, putAll, withRestart, withStore, withTwo } from "./check.ts";
import { at, deadLetters } from "./dead-letters.ts";
import type { DlqPartCheck, DlqPartsSubject } from "./dlq-parts-subject.ts";
import { facetsOf, jobsOf, pageOf } from "./parts.ts";

const DAMAGE: readonly ((document: string) => string)[] = [
  (document) => document.slice(0, document.length / 2),
  (document) => document.replace('"redrive"', "5"),
  () => "",
  () => "null",
  () => "[]",
];

/** Jobs. */
export const JOB_CHECKS = {
  "gives back a job as it was put, and nothing of one that is not there": withStore(async (store, signal) => {
    const made = job("job-1", { document: JSON.stringify({ text: 'Zoë "quoted" \\ \u0000 💶', n: 2 ** 53 }) });
    assert.equal(await jobsOf(store).put(made, undefined, signal), true);
    assert.deepEqual({ ...(await jobsOf(store).get("job-1", signal)) }, made);
    assert.equal(await jobsOf(store).get("job-2", signal), undefined);
  }),
  "keeps a document of 64 KiB": withStore(async (store, signal) => {
    const made = job("job-1", { document: JSON.stringify("x".repeat(64 * 1024 - 2)) });
    await jobsOf(store).put(made, undefined, signal);
    assert.deepEqual({ ...(await jobsOf(store).get("job-1", signal)) }, made);
  }),
  "a put under the revision that is kept replaces the job": withStore(async (store, signal) => {
    await jobsOf(store).put(job("job-1"), undefined, signal);
    const next = job("job-1", { revision: 2, state: "running", document: "{}" });
    assert.equal(await jobsOf(store).put(next, 1, signal), true);
    assert.deepEqual({ ...(await jobsOf(store).get("job-1", signal)) }, next);
  }),
  "operators 1.5: a put of a job with a stale revision is refused": withStore(async (store, signal) => {
    const jobs = jobsOf(store);
    const second = job("job-1", { revision: 2, state: "running" });
    await jobs.put(job("job-1"), undefined, signal);
    await jobs.put(second, 1, signal);
    const stale = job("job-1", { revision: 2, state: "paused" });
    for (const expected of [1, 3, undefined]) assert.equal(await jobs.put(stale, expected, signal), false);
    assert.equal(await jobs.put(job("job-2", { revision: 2 }), 1, signal), false);
    assert.deepEqual({ ...(await jobs.get("job-1", signal)) }, second);
    assert.equal(await jobs.get("job-2", signal), undefined);
  }),
  "of writers that race, one has put the job": withTwo(async (one, other, signal) => {
    await jobsOf(one).put(job("job-1"), undefined, signal);
    const racers = Array.from({ length: 8 }, (_, i) => job("job-1", { revision: 2, document: `{"by":${i}}` }));
    const put = await Promise.all(racers.map((each, i) => jobsOf(i % 2 === 0 ? one : other).put(each, 1, signal)));
    assert.deepEqual(put.filter(Boolean), [true]);
    assert.deepEqual({ ...(await jobsOf(other).get("job-1", signal)) }, racers[put.indexOf(true)]);
  }),
  "of writers of a new job that race, one has put it": withTwo(async (one, other, signal) => {
    const racers = Array.from({ length: 4 }, (_, i) => job("job-1", { document: `{"by":${i}}` }));
    const put = await Promise.all(
      racers.map((each, i) => jobsOf(i % 2 === 0 ? one : other).put(each, undefined, signal)),
    );
    assert.deepEqual(put.filter(Boolean), [true]);
    assert.deepEqual({ ...(await jobsOf(one).get("job-1", signal)) }, racers[put.indexOf(true)]);
  }),
  "lists newest first, by when they were made and then by id, up to the limit": withStore(async (store, signal) => {
    const made = ["b", "d", "a", "c"].flatMap((id) => [
      job(`${id}2`, { createdAt: at(2) }),
      job(`${id}1`, { createdAt: at(1), state: "running" }),
    ]);
    for (const each of made) await jobsOf(store).put(each, undefined, signal);
    const list = async (limit: number, states?: readonly string[]): Promise<readonly string[]> =>
      (await jobsOf(store).list({ limit, ...(states && { states }) }, signal)).map(({ id }) => id);
    assert.deepEqual(await list(100), ["d2", "c2", "b2", "a2", "d1", "c1", "b1", "a1"]);
    assert.deepEqual(await list(3), ["d2", "c2", "b2"]);
    assert.deepEqual(await list(100, ["running"]), ["d1", "c1", "b1", "a1"]);
    assert.deepEqual(await list(2, ["running", "halted"]), ["d1", "c1"]);
    assert.deepEqual(await list(5, ["running", "planned"]), ["d2", "c2", "b2", "a2", "d1"]);
    assert.deepEqual(await list(100, ["halted"]), []);
    const [first] = await jobsOf(store).list({ limit: 1 }, signal);
    assert.deepEqual({ ...first }, job("d2", { createdAt: at(2) }));
  }),
  "a job that is deleted is gone, and can be put anew": withStore(async (store, signal) => {
    const jobs = jobsOf(store);
    for (const id of ["job-1", "job-2"]) await jobs.put(job(id), undefined, signal);
    await jobs.delete(["job-1", "unknown"], signal);
    await jobs.delete([], signal);
    assert.equal(await jobs.get("job-1", signal), undefined);
    assert.deepEqual(
      (await jobs.list({ limit: 10 }, signal)).map(({ id }) => id),
      ["job-2"],
    );
    assert.equal(await jobs.put(job("job-1"), undefined, signal), true);
  }),
  "a job is none of the entries": withStore(async (store, signal) => {
    await putAll(store, deadLetters(2), signal);
    await jobsOf(store).put(job("job-1"), undefined, signal);
    assert.deepEqual(await idsOf(store, signal), ["e0000", "e0001"]);
    assert.equal(await store.count(10, signal), 2);
    assert.equal(await store.get("job-1", signal), undefined);
    if (store.page !== undefined) assert.equal((await pageOf(store, {}, {}, signal)).entries.length, 2);
    if (store.facets !== undefined) assert.equal((await facetsOf(store, {}, signal)).total, 2);
  }),
  "a job survives an abrupt end": withRestart(
    async (store, signal) => {
      await jobsOf(store).put(job("job-1"), undefined, signal);
      await jobsOf(store).put(job("job-1", { revision: 2, state: "running" }), 1, signal);
    },
    async (store, signal) => {
      const kept = { ...(await jobsOf(store).get("job-1", signal)) };
      assert.deepEqual(kept, job("job-1", { revision: 2, state: "running" }));
    },
  ),
  "a job whose document somebody has cut off, emptied or replaced is handed out, and holds up no other": damaged,
  "an aborted put of a job rejects with the signal's reason and writes nothing": assertAborts(
    (store, signal) => jobsOf(store).put(job("job-1"), undefined, signal),
    async (store, signal) => assert.equal(await jobsOf(store).get("job-1", signal), undefined),
  ),
  "an aborted list of jobs rejects with the signal's reason": assertAborts((store, signal) =>
    jobsOf(store).list({ limit: 1 }, signal),
  ),
} as const satisfies Record<string, DlqPartCheck>;

function job(id: string, fields: Partial<StoredJob> = {}): StoredJob {
  return { id, revision: 1, state: "planned", createdAt: at(1), document: '{"kind":"redrive"}', ...fields };
}

/** Of what is not as it was put the document is what stands there: the engine finds that out, shows it as failed, and nobody goes on with it. */
async function damaged(subject: DlqPartsSubject, signal: AbortSignal): Promise<void> {
  const rewriteJob = subject.rewriteJob?.bind(subject);
  assert.ok(rewriteJob !== undefined, "the subject has no rewriteJob: give one, or excuse the case");
  const made = ["first", ...DAMAGE.map((_, nth) => `job-${nth}`), "last"].map((id) => job(id));
  let changed: DlqStore = await subject.open();
  for (const each of made) await jobsOf(changed).put(each, undefined, signal);
  for (const [nth, damage] of DAMAGE.entries()) changed = await rewriteJob(changed, `job-${nth}`, damage);
  await using store = changed;
  const jobs = jobsOf(store);
  const listed = await jobs.list({ states: ["planned"], limit: 99 }, signal);
  assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set(made.map(({ id }) => id)));
  for (const { document, ...rest } of made) {
    const kept = await jobs.get(rest.id, signal);
    assert.ok(kept !== undefined, `job ${rest.id} is not there`);
    assert.deepEqual({ ...kept }, { ...listed.find(({ id }) => id === rest.id) });
    const damage = DAMAGE.find((_, nth) => rest.id === `job-${nth}`);
    assert.deepEqual({ ...kept }, { ...rest, document: damage === undefined ? document : damage(document) });
  }
  const ids = made.map(({ id }) => id);
  await jobs.delete(ids, signal);
  for (const each of made) assert.equal(await jobs.put(each, undefined, signal), true);
  assert.equal((await jobs.list({ limit: 99 }, signal)).length, made.length);
}
