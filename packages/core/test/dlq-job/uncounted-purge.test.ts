import type { BridgeConfig } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetterPage, type DlqStore } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { JobEvent } from "../../src/dlq-job/job-parts.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until, rewrite } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const ENTRIES = 300;
const PURGE = { kind: "purge", undoWithinMs: 3_600_000, settings: { ...AT_ONCE, rate: 50 } } as const;

/** As if instances shared the store. */
const shared = (config: BridgeConfig): BridgeConfig => ({
  ...config,
  stores: { ...config.stores, dlq: { type: "test", reach: "cluster", options: {} } },
});
/** As if the store were a file, which the next process opens. */
const alone = (config: BridgeConfig): BridgeConfig => config;

/** A store that does what it is told to take, and says nothing of it from call `nth` on; `isDead`: then it hears nothing any more, either. */
function unheard(dlq: ReturnType<typeof openMemoryDlq>, nth: number) {
  const view = { calls: 0, isMute: true, isDead: false, dies: true };
  const { admin } = dlq;
  const move: typeof admin.trash.move = async (...given) => {
    const moved = await admin.trash.move(...given);
    if (!view.isMute || ++view.calls < nth) return moved;
    view.isDead = view.dies;
    throw new BridgeError("TIMEOUT", "no answer in time");
  };
  const store: DlqStore = { ...dlq, admin: { ...admin, trash: { ...admin.trash, move } } };
  const seen = seenDlq(store, () => {
    if (view.isDead) throw new BridgeError("CONNECTION_LOST", "killed");
  });
  return { view, store: seen };
}

async function inTrash(dlq: DlqStore): Promise<number> {
  return (await dlq.admin?.trash?.count(1_000_000, bound())) ?? 0;
}

const ENDS = [
  { call: "pause", state: "paused" },
  { call: "cancel", state: "cancelled" },
] as const;

describe("interface 2.16: what a purge has moved while the answer was lost counts as succeeded when it stands still", () => {
  test.each(ENDS.flatMap((end) => [shared, alone].map((config) => ({ ...end, config }))))(
    "its owner was killed, and the next one carries out a $call ($config.name)",
    async ({ call, state, config }) => {
      const clock = new FakeClock();
      const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
      const { view, store } = unheard(dlq, 2);
      const told: JobEvent[] = [];
      const first = await started({ clock, dlq: store, config, instanceId: "plant-a" });
      await fill(dlq, ENTRIES);
      const { id } = await begun(first, PURGE);
      await clock.until(() => view.isDead);
      const seen = seenDlq(dlq, () => {});
      // It is asked for before anybody has missed the owner.
      await rewrite(dlq.jobs, id, () => ({ requested: { call } }));
      const onJob = (event: JobEvent): void => void told.push(event);
      const next = await started({ clock, dlq: seen, config, instanceId: "plant-b", onJob });
      const job = await until(next, id, state);
      expect(await inTrash(dlq)).toBe(100);
      expect(job).toMatchObject({ total: ENTRIES, counts: { succeeded: 100, skipped: 0 } });
      const ends = told.filter(({ kind }) => kind === "ended").map((event) => event.job.counts.succeeded);
      expect(ends).toEqual(state === "cancelled" ? [100] : []);
      const counted = next.supervisor.stats().jobs.entries;
      expect(counted).toContainEqual({ kind: "purge", outcome: "succeeded", count: 50 });
      view.isDead = false;
      await first.supervisor.shutdown();
      await next.supervisor.shutdown();
    },
  );

  test.each(ENDS)("its store gave no answer to the last call before a $call", async ({ call, state }) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const { view, store } = unheard(dlq, 3);
    view.dies = false;
    const bridge = await started({ clock, dlq: store });
    await fill(dlq, ENTRIES);
    const { id } = await begun(bridge, PURGE);
    await clock.until(() => view.calls === 3);
    await bridge.supervisor.jobs().ask(id, { call }, bound());
    const { counts } = await until(bridge, id, state);
    expect([counts.succeeded, counts.skipped, await inTrash(dlq)]).toEqual([150, 0, 150]);
    await bridge.supervisor.shutdown();
  });

  test("and it goes on with none of them counted again, also when an index shows them for a while", async () => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const { view, store } = unheard(dlq, 2);
    view.dies = false;
    const shown = new Map<string, DeadLetterPage>();
    let lags = false;
    const page: DlqStore["page"] = async (query, request, signal) => {
      const at = JSON.stringify(request.after ?? null);
      const now = (lags ? shown.get(at) : undefined) ?? (await dlq.page(query, request, signal));
      shown.set(at, now);
      return now;
    };
    const close = async (): Promise<void> => {};
    const bridge = await started({ clock, dlq: { ...store, page, [Symbol.asyncDispose]: close } });
    await fill(dlq, ENTRIES);
    const { id } = await begun(bridge, PURGE);
    await clock.until(() => view.calls === 2);
    const jobs = bridge.supervisor.jobs();
    await jobs.ask(id, { call: "pause" }, bound());
    await until(bridge, id, "paused");
    lags = true;
    view.isMute = false;
    await jobs.ask(id, { call: "resume" }, bound());
    await clock.advance(1_500);
    lags = false;
    expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES, skipped: 0 });
    expect(await stored(dlq)).toEqual([]);
    await bridge.supervisor.shutdown();
  });

  test.each(ENDS)(
    "but a store that never tells keeps a $call waiting for 20 s and no longer",
    async ({ call, state }) => {
      const clock = new BoundingClock();
      const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
      const { view, store } = unheard(dlq, 2);
      view.dies = false;
      const { admin } = store;
      if (admin?.trash === undefined) throw new Error("it has no trash");
      let isSilent = false;
      const { trash } = admin;
      const count: typeof trash.count = (...given) => (isSilent ? new Promise(() => {}) : trash.count(...given));
      const bridge = await started({ clock, dlq: { ...store, admin: { ...admin, trash: { ...trash, count } } } });
      await fill(dlq, ENTRIES);
      const { id } = await begun(bridge, PURGE);
      await clock.until(() => view.calls === 2);
      isSilent = true;
      const askedAt = clock.now();
      await bridge.supervisor.jobs().ask(id, { call }, bound());
      await until(bridge, id, state);
      expect(clock.now() - askedAt).toBeLessThanOrEqual(22_000);
      await bridge.supervisor.shutdown();
    },
  );
});
