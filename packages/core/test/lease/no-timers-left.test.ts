import { openMemoryLeases } from "@bridge/memory";
import { silentLogger } from "@bridge/ports";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Lease } from "../../src/lease/lease.ts";
import { LeaseKeeper } from "../../src/lease/lease-keeper.ts";
import { LeaseWriter } from "../../src/lease/lease-writer.ts";
import { FakeClock } from "../support/fake-clock.ts";

const TTL_MS = 20_000;

function keeping() {
  const clock = new FakeClock();
  const store = openMemoryLeases({ name: randomUUID() });
  const lease = new Lease("s", "bridge/s");
  const stop = new AbortController();
  const keeper = new LeaseKeeper({
    lease,
    writer: new LeaseWriter({ key: lease.key, clock, store: () => store }),
    holder: "a",
    timing: () => ({ leaseTtlMs: TTL_MS, leasePollIntervalMs: 1_000 }),
    count: { acquisitions: 0, losses: 0, yields: 0, failures: 0 },
    clock,
    logger: silentLogger,
  });
  lease.connected();
  return { clock, lease, stop, kept: keeper.run(stop.signal) };
}

test("a lease that is held keeps one timer, however often it was renewed, in time or because somebody asked", async () => {
  const { clock, lease, stop, kept } = keeping();
  await clock.advance(100);
  expect(clock.pending).toBe(1);
  await clock.advance(10 * TTL_MS);
  expect(clock.pending).toBe(1);
  for (let times = 0; times < 5; times++) {
    await clock.advance(TTL_MS / 10);
    expect(lease.term?.lasts(TTL_MS * 0.95)).toBe(false);
    await clock.advance(100);
    expect(lease.term?.lasts(TTL_MS * 0.95)).toBe(true);
  }
  expect(clock.pending).toBe(1);
  stop.abort(new Error("stopped"));
  await clock.advance(100);
  await kept;
});

test("a lease that was released keeps none", async () => {
  const { clock, stop, kept } = keeping();
  await clock.advance(100);
  stop.abort(new Error("stopped"));
  await clock.advance(100);
  await kept;
  expect(clock.pending).toBe(0);
});
