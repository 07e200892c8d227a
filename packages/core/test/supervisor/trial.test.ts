import { expect, test } from "vitest";
import type { HistogramStats } from "../../src/accounting/histogram.ts";
import { trialOf } from "../../src/supervisor/trial.ts";
import type { BridgeView } from "../../src/view/bridge-view.ts";
import type { BridgeStats } from "../../src/view/stats.ts";

const counted = (...counts: readonly number[]): HistogramStats => ({ bounds: [], counts, sum: 0 });

function trial(view: Partial<BridgeView>, legs: readonly object[] = []) {
  return trialOf({ view: () => view as BridgeView, stats: () => ({ legs }) as unknown as BridgeStats });
}

test("a change that is tried out runs while the bridge does", () => {
  expect(trial({ state: "running" }).running()).toBe(true);
  expect(trial({ state: "paused" }).running()).toBe(false);
});

test.each([
  ["running", [true, true, false, false, false]],
  ["full", [true, true, true, true, true]],
] as const)("a bridge at level %s reaches that one and those below", (level, reached) => {
  const tried = trial({ level });
  expect(
    (["live", "running", "connected", "subscribed", "full"] as const).map((wanted) => tried.reaches(wanted)),
  ).toEqual([...reached]);
});

test("of the routes that it is asked for, it counts all sends and those that failed", () => {
  const tried = trial({}, [
    { routeId: "r", sends: { accepted: counted(3, 4), failed: counted(1, 0) } },
    { routeId: "q", sends: { accepted: counted(100, 0), failed: counted(0, 50) } },
    { routeId: "r", sends: { accepted: counted(0, 5), failed: counted(2, 2) } },
  ]);
  expect(tried.sends(["r"])).toEqual({ sends: 17, failed: 5 });
  expect(tried.sends(["r", "q"])).toEqual({ sends: 167, failed: 55 });
  expect(tried.sends(["none"])).toEqual({ sends: 0, failed: 0 });
});
