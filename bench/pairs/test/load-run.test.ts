import { describe, expect, it } from "vitest";
import { LoadRun } from "../../src/suite/load-run.ts";

/** A load whose floods take so long, one after another. */
function loadOf(floodsMs: readonly number[]) {
  const left = [...floodsMs];
  const answers: Readonly<Record<string, () => unknown>> = {
    flood: () => left.shift(),
    pace: () => ({ p50Ms: 1, p99Ms: 2, maxMs: 3 }),
    balance: () => ({ sent: 0, lost: 1, duplicated: 2, refused: 3 }),
  };
  return { ask: async <Answer>(name: string) => answers[name]?.() as Answer };
}

/** A counter that has grown by so much at each reading. */
function counterOf(...growth: readonly number[]): () => Promise<number> {
  let [sum, reading] = [0, 0];
  return async () => (sum += growth[reading++] ?? 0);
}

describe("a run of the load", () => {
  it("adds up its floods, and leaves out what was used between them", async () => {
    const cpuMs = counterOf(1_000, 30, 500, 10);
    let peakRssBytes = 0;
    const run = new LoadRun({
      window: 1,
      load: loadOf([100, 300]),
      contender: { usage: async () => ({ cpuMs: await cpuMs(), peakRssBytes: (peakRssBytes += 2 ** 20) }) },
      counters: { requests: counterOf(5, 100, 7, 60) },
    });
    await run.flood(50);
    await run.flood(30);
    expect(await run.result()).toEqual({
      perSecond: 200,
      cpuMicros: 500,
      busy: 0.1,
      rssMb: 4,
      lost: 1,
      duplicated: 2,
      refused: 3,
      requests: 2,
    });
  });

  it("has no CPU of a contender that cannot be told from its broker", async () => {
    const contender = { usage: async () => ({ cpuMs: Number.NaN, peakRssBytes: Number.NaN }) };
    const run = new LoadRun({ window: 1, load: loadOf([100]), contender });
    await run.flood(100);
    expect(await run.result()).toMatchObject({ perSecond: 1_000, cpuMicros: Number.NaN, rssMb: Number.NaN });
  });

  it("keeps up when it carries half as much again as the pace, over all floods", async () => {
    const contender = { usage: async () => ({ cpuMs: 0, peakRssBytes: 0 }) };
    const run = new LoadRun({ window: 1, load: loadOf([50, 50]), contender });
    await run.flood(100);
    expect(run.keepsUp).toBe(true);
    await run.flood(40);
    expect(run.keepsUp).toBe(false);
  });

  it("has the latency that the load noted last", async () => {
    const contender = { usage: async () => ({ cpuMs: 0, peakRssBytes: 0 }) };
    const run = new LoadRun({ window: 1, load: loadOf([50]), contender });
    await run.flood(100);
    expect(await run.result()).not.toHaveProperty("p50Ms");
    await run.pace(1);
    expect(await run.result()).toMatchObject({ p50Ms: 1, p99Ms: 2, maxMs: 3 });
  });
});
