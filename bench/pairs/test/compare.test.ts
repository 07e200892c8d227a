import { describe, expect, it } from "vitest";
import { compare, passes } from "../src/check/compare.ts";
import { results, row } from "./support/results.ts";

const baseline = results([
  row({
    script: { perSecond: 10_000, cpuMicros: 20, rssMb: 100 },
    direct_hold: { perSecond: 9_500, cpuMicros: 24, rssMb: 120 },
  }),
]);

function against(bridge: Readonly<Record<string, number>>, script = { perSecond: 5_000, cpuMicros: 40, rssMb: 100 }) {
  return compare(baseline, results([row({ script, direct_hold: { lost: 0, ...bridge } })]));
}

describe("compare", () => {
  it("passes when a machine half as quick shows the same ratios", () => {
    const findings = against({ perSecond: 4_750, cpuMicros: 48, rssMb: 120 });
    expect(findings.map(({ verdict }) => verdict)).toEqual(["same", "same", "same", "same"]);
    expect(passes(findings)).toBe(true);
  });

  it("passes at the tolerance, and fails beyond it", () => {
    expect(passes(against({ perSecond: 3_801, cpuMicros: 57.5, rssMb: 143 }))).toBe(true);
    const findings = against({ perSecond: 3_799, cpuMicros: 57.7, rssMb: 145 });
    expect(findings.map(({ verdict }) => verdict)).toEqual(["worse", "worse", "worse", "same"]);
    expect(passes(findings)).toBe(false);
  });

  it("passes when everything is better", () => {
    const findings = against({ perSecond: 9_000, cpuMicros: 30, rssMb: 80 });
    expect(findings.map(({ verdict }) => verdict)).toEqual(["better", "better", "better", "same"]);
    expect(passes(findings)).toBe(true);
  });

  it("fails when a message was lost, however quick the others were", () => {
    expect(passes(against({ perSecond: 9_000, cpuMicros: 30, rssMb: 80, lost: 1 }))).toBe(false);
  });

  it("takes the ratio of each round, so that a slow round is slow for both", () => {
    const slow = { perSecond: 1_000, cpuMicros: 200, rssMb: 100 };
    const quick = { perSecond: 20_000, cpuMicros: 10, rssMb: 100 };
    const bridge = [slow, quick, quick].map((run) => ({
      perSecond: run.perSecond * 0.9,
      cpuMicros: run.cpuMicros * 1.2,
      rssMb: 120,
    }));
    const findings = compare(baseline, results([row({ script: [slow, quick, quick], direct_hold: bridge })]));
    expect(passes(findings)).toBe(true);
  });

  it("passes when a median is far off, and one round was like those of the baseline", () => {
    const script = { perSecond: 10_000, cpuMicros: 20, rssMb: 100 };
    const rounds = (...perSecond: readonly number[]) => perSecond.map((rate) => ({ ...script, perSecond: rate }));
    const three = [script, script, script];
    const then = results([row({ script: three, direct_hold: rounds(8_000, 10_000, 11_000) })]);
    const now = (...perSecond: readonly number[]) =>
      passes(compare(then, results([row({ script: three, direct_hold: rounds(...perSecond) })])));
    expect(now(7_000, 7_500, 8_500)).toBe(true);
    expect(now(7_000, 7_500, 7_900)).toBe(false);
  });

  it("fails when a planned row was not measured", () => {
    const findings = compare(baseline, results([], ["mqtt-mqtt, 256 B, window 100"]));
    expect(findings).toMatchObject([{ what: "not measured", verdict: "missing" }]);
    expect(passes(findings)).toBe(false);
  });

  it("fails when a row is not in the baseline", () => {
    const fresh = results([row({ script: {}, direct_hold: {} }, { window: 500 })]);
    expect(compare(baseline, fresh)).toMatchObject([{ what: "not in the baseline", verdict: "missing" }]);
  });

  it("fails when the baseline lacks a contender", () => {
    const both = { perSecond: 9_000, cpuMicros: 30, rssMb: 80 };
    const findings = compare(baseline, results([row({ script: both, direct_hold: both, shared_outbox: both })]));
    expect(findings).toContainEqual(
      expect.objectContaining({ what: "shared_outbox / direct_hold", verdict: "missing" }),
    );
    expect(passes(findings)).toBe(false);
  });

  it("fails when nothing was planned", () => {
    expect(passes(compare(baseline, results([])))).toBe(false);
  });
});
