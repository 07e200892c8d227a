import type { BridgeConfig } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until } from "./job-bridge.ts";

/** As if instances shared the store. */
const shared = (config: BridgeConfig): BridgeConfig => ({
  ...config,
  stores: { ...config.stores, dlq: { type: "test", reach: "cluster", options: {} } },
});

/** A store as one of its instances sees it, which may be cut off. */
function seen(dlq: Required<Pick<DlqStore, "jobs">> & DlqStore): { readonly store: DlqStore; isCut: boolean } {
  const view = {
    isCut: false,
    store: {
      ...dlq,
      jobs: {
        ...dlq.jobs,
        put: async (...given: Parameters<typeof dlq.jobs.put>) => {
          if (view.isCut) throw new BridgeError("CONNECTION_LOST", "cut off");
          return dlq.jobs.put(...given);
        },
      },
      async [Symbol.asyncDispose]() {},
    },
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
