import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it, test } from "vitest";
import { fill, started } from "../dlq-job/job-bridge.ts";
import { createRecorder } from "../../src/record/recorder.ts";
import { LegAccount } from "../../src/accounting/leg-account.ts";
import { quantileOf } from "../../src/record/quantile.ts";
import { SERIES_WINDOWS, Series } from "../../src/record/series.ts";
import { SERIES } from "../../src/record/series-ring.ts";

function deliver(account: LegAccount, count: number, ms = 3): void {
  for (let n = 0; n < count; n++) {
    account.open("received");
    account.accepted.observe(ms);
    account.close("delivered");
  }
}

describe("operators 6.2: series", () => {
  it("are what the counters have grown by, a second, and the gauges as they were", () => {
    const clock = new ManualClock();
    const [a, b] = [new LegAccount("r", "a"), new LegAccount("r", "b")];
    // What was counted before nobody looked has no step.
    deliver(a, 1_000);
    const series = new Series(clock, [a.read(), b.read()]);
    for (let second = 1; second <= 3; second++) {
      deliver(a, second * 10);
      deliver(b, 1, 40);
      clock.advance(1_000);
      series.tick([a.read(), b.read()]);
    }
    const last = (values: readonly (number | null)[] = []) => values.slice(-4);
    const all = series.read("5m");
    expect(last(all?.values.out)).toEqual([null, 11, 21, 31]);
    expect(all?.from).toBe(clock.now() - 300_000);
    const ofA = series.read("5m", "r", "a");
    expect(last(ofA?.values.in)).toEqual([null, 10, 20, 30]);
    expect(last(ofA?.values.send_p50_ms).at(-1)).toBeCloseTo(3.75, 1);
    const route = series.read("5m", "r");
    expect(last(route?.values.out)).toEqual([null, 11, 21, 31]);
    // The slowest of its bindings.
    expect(last(route?.values.send_p99_ms).at(-1)).toBeGreaterThan(25);
    expect(series.read("5m", "none")).toBeUndefined();
  });

  it("have steps of 1 s, 10 s and a minute, and rates are a second in each", () => {
    const clock = new ManualClock();
    const account = new LegAccount("r", "a");
    const series = new Series(clock, [account.read()]);
    for (let second = 0; second < 120; second++) {
      deliver(account, 5);
      clock.advance(1_000);
      series.tick([account.read()]);
    }
    for (const [window, steps] of [
      ["5m", 120],
      ["1h", 12],
      ["24h", 2],
    ] as const) {
      const { values, stepMs } = series.read(window) ?? { values: { out: [] }, stepMs: 0 };
      expect([window, stepMs, values.out.length]).toEqual([
        window,
        SERIES_WINDOWS[window].stepMs,
        SERIES_WINDOWS[window].steps,
      ]);
      expect(values.out.filter((value) => value !== null)).toEqual(Array.from({ length: steps }, () => 5));
    }
  });

  it("are of the first 200 bindings, in at most 16 MB; all count for the process", () => {
    const clock = new ManualClock();
    const accounts = Array.from({ length: 300 }, (_, n) => new LegAccount("r", `${n}`));
    const series = new Series(
      clock,
      accounts.map((account) => account.read()),
    );
    for (const account of accounts) deliver(account, 1);
    clock.advance(1_000);
    series.tick(accounts.map((account) => account.read()));
    expect(series.read("5m")?.values.out.at(-1)).toBe(300);
    expect(series.read("5m", "r")?.values.out.at(-1)).toBe(200);
    expect([series.read("5m", "r", "199") === undefined, series.read("5m", "r", "200")]).toEqual([false, undefined]);
    const steps = Object.values(SERIES_WINDOWS).reduce((sum, window) => sum + window.steps, 0);
    expect(steps * SERIES.length * 4 * 201).toBeLessThan(16 * 1_048_576);
  });
});

test("operators 6.2: the dead letters that there are stand in the series of the process, as last counted, and in no other", async () => {
  const { supervisor, clock, dlq } = await started();
  await fill(dlq, 7);
  using recorder = createRecorder({ supervisor, clock });
  const last = () => recorder.series("5m")?.values.dlq.at(-1);
  await clock.advance(1_000);
  expect(last()).toBe(7);
  await fill(dlq, 9);
  await clock.advance(61_000);
  expect(last()).toBe(9);
  expect(recorder.series("5m", "r")?.values.dlq.every((value) => value === null)).toBe(true);
  await supervisor.shutdown();
});

test("a quantile lies in the bucket that has it", () => {
  const bounds = [1, 10, 100];
  expect(quantileOf(0.5, bounds, [0, 0, 0, 0])).toBeUndefined();
  expect(quantileOf(0.5, bounds, [10, 0, 0, 0])).toBe(0.5);
  expect(quantileOf(0.5, bounds, [5, 5, 0, 0])).toBe(1);
  expect(quantileOf(0.99, bounds, [98, 0, 2, 0])).toBeCloseTo(55);
  expect(quantileOf(0.99, bounds, [0, 0, 0, 1])).toBe(100);
});
