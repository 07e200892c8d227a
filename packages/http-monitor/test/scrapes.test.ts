import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { connect } from "node:net";
import { listen, PartedBody } from "@bridge/http-kit";
import { type Clock, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import type { Family } from "@bridge/telemetry";
import { describe, expect, it, vi } from "vitest";
import { createMonitorApp } from "../src/index.ts";
import { Scrapes } from "../src/scrapes.ts";
import { MONITOR_KEY } from "./monitor.ts";

const families: readonly Family[] = [
  { name: "bridge_x_total", type: "counter", help: "X.", samples: [{ labels: {}, value: 1 }] },
];

describe("finding 5.7: scrapes", () => {
  it("that come before the counters are read share them; one that comes after is told what is so then", async () => {
    let reads = 0;
    const gate = Promise.withResolvers<void>();
    const read = async (): Promise<readonly Family[]> => {
      await gate.promise;
      reads++;
      return families;
    };
    const scrapes = new Scrapes({ read, routes: () => 1, clock: systemClock });
    const first = Array.from({ length: 20 }, () => scrapes.next());
    gate.resolve();
    const bodies = new Set(await Promise.all(first));
    expect([bodies.size, reads]).toEqual([1, 1]);
    expect(bodies).not.toContain(await scrapes.next());
    expect(reads).toBe(2);
    for (const body of bodies) {
      if (!(body instanceof PartedBody)) throw new Error("text");
      const taker = { expect: () => {}, failed: () => {} };
      const answer = await body.answer(new Slices(systemClock), taker);
      expect(await new Response(answer).text()).toContain("bridge_x_total 1\n");
    }
  });

  it("that nobody takes are not written, and are cut after ten seconds", async () => {
    let now = 0;
    const looks = new Set<() => void>();
    const clock: Clock = {
      ...systemClock,
      monotonic: () => now,
      every(_ms, tick) {
        looks.add(tick);
        return { [Symbol.dispose]: () => void looks.delete(tick) };
      },
    };
    let written = 0;
    const samples = {
      *[Symbol.iterator]() {
        // 40 MB, more than a system keeps for one connection.
        for (let route = 0; route < 40_000; route++, written++)
          yield { labels: { route: "x".repeat(1_000) }, value: 1 };
      },
    };
    const auditor = {
      record: async () => true,
      hasRoomFor: async () => true,
      failures: () => new Map(),
      faults: () => new Map(),
    };
    const app = createMonitorApp({
      supervisor: () => undefined,
      keys: { monitorApiKey: MONITOR_KEY },
      auditor: auditor as never,
      metrics: async () => [{ name: "bridge_x_total", type: "counter", help: "X.", samples }],
      clock,
    });
    const seams = { logger: silentLogger, random: systemRandom(), clock };
    await using listener = await listen({ addr: "127.0.0.1:0", app, ...seams }, AbortSignal.timeout(10_000));
    const client = connect(listener.port, "127.0.0.1");
    client.on("error", () => {});
    await once(client, "connect");
    client.pause();
    client.write(`GET /api/v1/monitor/metrics HTTP/1.1\r\nHost: a\r\nX-API-Key: ${MONITOR_KEY}\r\n\r\n`);
    await vi.waitFor(() => expect(written).toBeGreaterThan(0), PATIENCE);
    await vi.waitFor(() => {
      now += 6_000;
      for (const look of looks) look();
      expect(listener.stats().connectionsCut).toBe(1);
    }, PATIENCE);
    expect(written).toBeLessThan(20_000);
    client.destroy();
  });

  it("that cannot be read are not what the next one is told", async () => {
    let failing = true;
    const read = async (): Promise<string> => {
      if (failing) throw new Error("a bug of ours");
      return "up 1\n";
    };
    const scrapes = new Scrapes({ read, routes: () => 1, clock: systemClock });
    await expect(scrapes.next()).rejects.toThrow("a bug of ours");
    failing = false;
    expect(await scrapes.next()).toBe("up 1\n");
  });
});
