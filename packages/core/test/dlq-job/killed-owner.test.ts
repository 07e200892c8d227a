import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore, type Processor } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, entryOf, fill, orderOf, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const CONCURRENCY = 8;

/** The store as a process sees it that is killed: from then on it does nothing and hears nothing. */
function mortal(dlq: DlqStore): { readonly store: DlqStore; dead: boolean } {
  const view = {
    dead: false,
    store: seenDlq(dlq, () => {
      if (view.dead) throw new BridgeError("CONNECTION_LOST", "killed");
    }),
  };
  return view;
}

test.each([5, 40, 130, 300])(
  "operators 3.4: killed after %s attempts: what was marked is not attempted again, and no more than was in flight is sent twice",
  async (killedAfter) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const first = mortal(dlq);
    const attempts = new Map<string, number>();
    const marked = new Set<string>();
    const again: string[] = [];
    let count = Number.NEGATIVE_INFINITY;
    const target: Processor = {
      async process(envelope) {
        attempts.set(envelope.subject, (attempts.get(envelope.subject) ?? 0) + 1);
        if (marked.has(envelope.subject)) again.push(envelope.subject);
        if (++count === killedAfter) first.dead = true;
        if (Number(envelope.subject.slice(1)) % 3 === 0) throw refusal;
        return { kind: "pass", envelope };
      },
    };
    const settings = { ...AT_ONCE, rate: 200, concurrency: CONCURRENCY };
    const killed = await started({ clock, dlq: first.store, processors: [target] });
    await fill(dlq, 400);
    const jobs = killed.supervisor.jobs();
    const { job } = await jobs.plan(orderOf({ settings }), bound());
    // The plan has taken each of them through the processor.
    attempts.clear();
    count = 0;
    await jobs.start(job.id, { planHash: job.plan.hash }, bound());
    await clock.until(() => first.dead);
    await clock.advance(1_000);
    for (const { id, marks } of (await dlq.page({}, { limit: 1_000, budget: 10_000, order: "oldest" }, bound()))
      .entries)
      if (marks?.redrives?.jobId === job.id) marked.add(id);

    const next = await started({ clock, dlq: mortal(dlq).store, processors: [target] });
    const done = await until(next, job.id, "completed");
    const repeated = [...attempts.values()].filter((times) => times > 1).length;
    expect(again).toEqual([]);
    expect(repeated).toBeLessThanOrEqual(CONCURRENCY);
    expect(done.counts.inDoubt).toBeGreaterThanOrEqual(repeated);
    expect(attempts.size).toBe(400);
    expect(done.counts).toMatchObject({ failed: 134 });
    // Whoever counts a failure, at once or after the kill, tells it in the same words.
    expect(done.errors).toMatchObject([{ code: "REJECTED", count: 134 }]);
    expect(done.counts.succeeded + done.counts.skipped).toBe(266);
    expect(await stored(dlq)).toHaveLength(134);
    await next.supervisor.shutdown();
  },
);

test.each([1, 2, 3])(
  "spec 4.10.5: killed as call %s of an undo is answered: the next owner counts what is back, and calls none of it gone",
  async (killedAt) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    let [calls, isDead] = [0, false];
    const store = seenDlq(dlq, (name) => {
      if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
      if (name === "admin.trash.restore") isDead = ++calls === killedAt;
    });
    const killed = await started({ clock, dlq: store });
    await fill(dlq, 1_200);
    const { id } = await begun(killed, { kind: "purge", undoWithinMs: 3_600_000 });
    await until(killed, id, "completed");
    await killed.supervisor.jobs().ask(id, { call: "undo" }, bound());
    await clock.until(() => isDead);

    const next = await started({ clock, dlq: mortal(dlq).store });
    const undone = await until(next, id, "undone");
    expect(await stored(dlq)).toHaveLength(1_200);
    expect(undone.counts).toMatchObject({ succeeded: 1_200, restored: 1_200 });
    expect(undone.counts.gone).toBeUndefined();
    expect(undone.errors).toEqual([]);
    await next.supervisor.shutdown();
  },
);

test("spec 4.10.5: killed in the second call of an undo: what the first had found to be there again stays counted as present", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  let [calls, isDead] = [0, false];
  const store = seenDlq(dlq, (name) => {
    if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
    if (name === "admin.trash.restore") isDead = ++calls === 2;
  });
  const killed = await started({ clock, dlq: store });
  await fill(dlq, 1_200);
  const { id } = await begun(killed, { kind: "purge", undoWithinMs: 3_600_000 });
  await until(killed, id, "completed");
  for (let nth = 0; nth < 300; nth++) await dlq.put(entryOf(nth, { failedAt: clock.now() }), bound());
  await killed.supervisor.jobs().ask(id, { call: "undo" }, bound());
  await clock.until(() => isDead);

  const next = await started({ clock, dlq: mortal(dlq).store });
  const { counts } = await until(next, id, "undone");
  expect(counts).toMatchObject({ succeeded: 1_200, restored: 900, present: 300 });
  await next.supervisor.shutdown();
});

function slowly(store: DlqStore, put: NonNullable<DlqStore["jobs"]>["put"]): DlqStore {
  const jobs =
    store.jobs && new Proxy(store.jobs, { get: (target, key) => (key === "put" ? put : Reflect.get(target, key)) });
  return new Proxy(store, { get: (target, key): unknown => (key === "jobs" ? jobs : Reflect.get(target, key)) });
}

test("operators 3.5.2: what has failed is counted once, also when the owner is killed while the store is slow to take the job", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const first = mortal(dlq);
  const { jobs } = first.store;
  const put: NonNullable<typeof jobs>["put"] = async (job, expected, signal) => {
    await clock.delay(700, signal);
    if (first.dead || jobs === undefined) throw new BridgeError("CONNECTION_LOST", "killed");
    return jobs.put(job, expected, signal);
  };
  const slow = slowly(first.store, put);
  const target: Processor = {
    async process() {
      throw refusal;
    },
  };
  const killed = await started({ clock, dlq: slow, processors: [target] });
  await fill(dlq, 400);
  const passing = <Result>(work: Promise<Result>): Promise<Result> => {
    let isDone = false;
    void work.finally(() => (isDone = true)).catch(() => {});
    return clock.until(() => isDone).then(() => work);
  };
  const { job } = await passing(
    killed.supervisor.jobs().plan(orderOf({ settings: { ...AT_ONCE, rate: 50, ramp: [1, 5, 20] } }), bound()),
  );
  await passing(killed.supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound()));
  await clock.advance(5_050);
  first.dead = true;
  const next = await started({ clock, dlq: mortal(dlq).store, processors: [target] });
  const done = await until(next, job.id, "completed");
  expect(done).toMatchObject({ total: 400, counts: { succeeded: 0, failed: 400, skipped: 0 } });
  await next.supervisor.shutdown();
});
