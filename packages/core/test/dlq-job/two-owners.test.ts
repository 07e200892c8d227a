import type { BridgeConfig } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryLeases } from "@bridge/memory";
import { BridgeError, type DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import type { Jobs } from "../../src/dlq-job/jobs.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, shared, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

/** A store as one of its instances sees it, whose word on jobs may be cut off, or all of it. */
function seen(dlq: DlqStore): { readonly store: DlqStore; isCut: boolean; isGone: boolean } {
  const view = {
    isCut: false,
    isGone: false,
    store: seenDlq(dlq, (name) => {
      if (view.isGone || (view.isCut && name === "jobs.put")) throw new BridgeError("CONNECTION_LOST", "cut off");
    }),
  };
  return view;
}

test("operators 3.5.3: an owner that is not heard of for lease_ttl loses its job to the other, and does nothing more when it is back", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const one = seen(dlq);
  const first = await started({ clock, dlq: one.store, config: shared, instanceId: "plant-a" });
  await fill(dlq, 600);
  const settings = { ...AT_ONCE, rate: 10, concurrency: 4 };
  const job = await begun(first, { settings });
  await until(first, job.id, ({ counts }) => counts.succeeded > 20);
  const second = await started({ clock, dlq: seen(dlq).store, config: shared, instanceId: "plant-b" });
  await clock.advance(30_000);
  expect(second.hub.channel("out").arrived).toBe(0);
  expect((await first.supervisor.jobs().get(job.id, bound())).owner?.instanceId).toBe("plant-a");

  one.isCut = true;
  await clock.advance(3_000);
  const { arrived } = first.hub.channel("out");
  await clock.advance(20_000 + 2_000 + 2_000);
  const taken = await second.supervisor.jobs().get(job.id, bound());
  expect(taken).toMatchObject({ owner: { instanceId: "plant-b" }, counts: { inDoubt: 4 } });
  expect(second.supervisor.stats().jobs.adoptions).toBe(1);
  // The former owner, which cannot write it, tells it as it is stored by now.
  expect((await first.supervisor.jobs().get(job.id, bound())).owner?.instanceId).toBe("plant-b");

  one.isCut = false;
  const done = await until(second, job.id, "completed");
  expect(first.hub.channel("out").arrived).toBe(arrived);
  expect(arrived + second.hub.channel("out").arrived).toBe(600);
  expect(done.counts.failed).toBe(0);
  expect(done.counts.succeeded + done.counts.skipped).toBe(600);
  expect(await stored(dlq)).toEqual([]);
  await first.supervisor.shutdown();
  await second.supervisor.shutdown();
});

test("spec 4.10.6: an owner that is cut off takes no orders once another may have its job, and tells nobody of it", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const one = seen(dlq);
  const first = await started({ clock, dlq: one.store, config: shared, instanceId: "plant-a" });
  await fill(dlq, 600);
  const job = await begun(first, { settings: { ...AT_ONCE, rate: 2 } });
  await until(first, job.id, ({ counts }) => counts.succeeded > 2);
  one.isGone = true;
  await clock.advance(5_000);
  expect(await first.supervisor.jobs().get(job.id, bound())).toMatchObject({ unstored: true });
  await clock.advance(20_000);
  await expect(first.supervisor.jobs().ask(job.id, { call: "pause" }, bound())).rejects.toMatchObject({
    message: "cut off",
  });
  await clock.advance(60_000);
  const halts = first.supervisor.stats().jobs.halts.filter(({ count }) => count > 0);
  expect(halts).toEqual([]);
  await first.supervisor.shutdown();
});

const TTL_MS = 20_000;
const POLL_MS = 9_000;

test.each([0, 2_500, 5_000, 7_500])(
  "operators 3.5.3: an owner that dies %s ms after the other looked is followed within lease_ttl, 2 s and one poll, whatever the poll",
  async (killedAfterMs) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const slow = (config: BridgeConfig): BridgeConfig => {
      const { bridge } = shared(config);
      return { ...shared(config), bridge: { ...bridge, leaseTtlMs: TTL_MS, leasePollIntervalMs: POLL_MS } };
    };
    const leases = () => openMemoryLeases({ name: `takeover after ${killedAfterMs}` });
    const one = seen(dlq);
    const first = await started({ clock, dlq: one.store, config: slow, instanceId: "plant-a", leases });
    await fill(dlq, 100);
    const job = await begun(first, { settings: { ...AT_ONCE, rate: 1 } });
    await until(first, job.id, ({ counts }) => counts.succeeded > 2);
    const second = await started({ clock, dlq: seen(dlq).store, config: slow, instanceId: "plant-b", leases });
    await clock.advance(killedAfterMs);
    one.isCut = true;
    await clock.advance(TTL_MS + 2_000 + POLL_MS);
    const taken = await second.supervisor.jobs().get(job.id, bound());
    expect(taken.owner?.instanceId).toBe("plant-b");
    await second.supervisor.jobs().ask(job.id, { call: "cancel" }, bound());
    await until(second, job.id, "cancelled");
    await first.supervisor.shutdown();
    await second.supervisor.shutdown();
  },
);

test("operators 3.5.2: what may have been in flight is counted as in doubt, also when the concurrency was lowered before the owner died", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const one = seen(dlq);
  const first = await started({ clock, dlq: one.store, config: shared, instanceId: "plant-a" });
  await fill(dlq, 100);
  using hold = first.hub.channel("out").sends.hold();
  const job = await begun(first, { settings: { ...AT_ONCE, concurrency: 12 } });
  await first.hub.channel("out").until(({ sends }) => sends.held === 12, bound());
  const second = await started({ clock, dlq: seen(dlq).store, config: shared, instanceId: "plant-b" });
  await second.supervisor.jobs().change(job.id, { concurrency: 1 }, bound());
  one.isCut = true;
  const done = await until(second, job.id, "completed");
  expect(second.supervisor.stats().jobs.adoptions).toBe(1);
  expect(done.counts.inDoubt).toBe(12);
  hold[Symbol.dispose]();
  await first.supervisor.shutdown();
  await second.supervisor.shutdown();
});

test("operators 3.5.3: what still waited for room in its route when an owner stood still is not sent once another has the job", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const one = seen(dlq);
  const policy = { maxInFlight: 1, sendTimeoutMs: 1e9 };
  const first = await started({ clock, dlq: one.store, config: shared, instanceId: "plant-a", policy });
  await fill(dlq, 50);
  using hold = first.hub.channel("out").sends.hold();
  const job = await begun(first, { settings: { ...AT_ONCE, concurrency: 6 } });
  await first.hub.channel("out").until(({ sends }) => sends.held === 1, bound());
  await until(first, job.id, ({ inFlight }) => inFlight === 6);
  const second = await started({ clock, dlq: seen(dlq).store, config: shared, instanceId: "plant-b" });
  one.isCut = true;
  await until(second, job.id, "completed");
  hold[Symbol.dispose]();
  await clock.advance(5_000);
  expect(first.hub.channel("out").arrived).toBe(1);
  expect(second.hub.channel("out").arrived).toBe(50);
  await first.supervisor.shutdown();
  await second.supervisor.shutdown();
});

test("operators 3.5.3: a purge that stood still between looking and taking takes nothing once another has finished the job and taken it back", async () => {
  // Of a process that stands still no timer fires, and its time has gone on when it wakes.
  const [its, clock] = [new FakeClock(), new FakeClock()];
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const gate = Promise.withResolvers<void>();
  let standsStill = false;
  const store: DlqStore = {
    ...dlq,
    async page(...asked) {
      const page = await dlq.page(...asked);
      if (standsStill) await gate.promise;
      return page;
    },
  };
  const first = await started({ clock: its, dlq: seen(store).store, config: shared, instanceId: "plant-a" });
  await fill(dlq, 300);
  const before = await stored(dlq);
  const settings = { ...AT_ONCE, rate: 50 };
  const job = await begun(first, { kind: "purge", undoWithinMs: 3_600_000, settings });
  await until(first, job.id, ({ counts }) => counts.succeeded > 0);
  standsStill = true;
  await its.advance(1_000);
  clock.skip(its.now() - clock.now());
  const second = await started({ clock, dlq: seen(dlq).store, config: shared, instanceId: "plant-b" });
  await until(second, job.id, "completed");
  expect(await stored(dlq)).toEqual([]);
  await second.supervisor.jobs().ask(job.id, { call: "undo" }, bound());
  await until(second, job.id, "undone");
  its.skip(clock.now() - its.now());
  gate.resolve();
  await its.advance(5_000);
  expect(await stored(dlq)).toEqual(before);
  await first.supervisor.shutdown();
  await second.supervisor.shutdown();
});

type Asking = (jobs: Jobs, id: string, nth: number) => Promise<unknown>;
const changesItsRate: Asking = (jobs, id, nth) => jobs.change(id, { rate: 1 + (nth % 2) }, bound());
const pausesAndResumesIt: Asking = (jobs, id, nth) =>
  jobs.ask(id, { call: nth % 2 === 0 ? "pause" : "resume" }, bound());

test.each([changesItsRate, pausesAndResumesIt])(
  "operators 3.5.3: a dead owner is followed within lease_ttl while somebody $name each second, a living one is not",
  async (ask) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const one = seen(dlq);
    const first = await started({ clock, dlq: one.store, config: shared, instanceId: "plant-a" });
    await fill(dlq, 600);
    const job = await begun(first, { settings: { ...AT_ONCE, rate: 1 } });
    await until(first, job.id, ({ counts }) => counts.succeeded > 2);
    const second = await started({ clock, dlq: seen(dlq).store, config: shared, instanceId: "plant-b" });
    const jobs = second.supervisor.jobs();
    const eachSecond = async (call: Asking, seconds: number): Promise<void> => {
      for (let nth = 0; nth < seconds; nth++) {
        await call(jobs, job.id, nth);
        await clock.advance(1_000);
      }
    };
    await eachSecond(changesItsRate, 30);
    expect(second.supervisor.stats().jobs.adoptions).toBe(0);
    expect((await jobs.get(job.id, bound())).owner?.instanceId).toBe("plant-a");
    one.isCut = true;
    await eachSecond(ask, 20 + 2 + 2);
    expect(second.supervisor.stats().jobs.adoptions).toBe(1);
    // What was in flight may be sent again, also when the job only stands still.
    expect((await jobs.get(job.id, bound())).counts.inDoubt).toBeGreaterThan(0);
    await jobs.ask(job.id, { call: "cancel" }, bound());
    await until(second, job.id, "cancelled");
    await first.supervisor.shutdown();
    await second.supervisor.shutdown();
  },
);
