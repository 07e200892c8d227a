import type { Family } from "@bridge/telemetry";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Deltas } from "../src/metrics/deltas.ts";
import { otlpName } from "../src/metrics/metric-data.ts";
import { RandomIds } from "../src/traces/random-ids.ts";

describe("deltas", () => {
  const counter = (value: number): readonly Family[] => [
    { name: "c_total", type: "counter", help: "", samples: [{ labels: { route: "r" }, value }] },
  ];
  const valueOf = ([family]: readonly Family[]): number => {
    const [sample] = family?.samples ?? [];
    return sample !== undefined && "value" in sample ? sample.value : Number.NaN;
  };

  test("that were told add up to where the counter stood when the last one was", () => {
    const steps = fc.array(fc.record({ grows: fc.nat(100), taken: fc.boolean() }), { maxLength: 30 });
    fc.assert(
      fc.property(steps, (all) => {
        const deltas = new Deltas([0, 0]);
        let [value, told, standing] = [0, 0, 0];
        for (const { grows, taken } of all) {
          value += grows;
          const grown = deltas.next(counter(value));
          const delta = valueOf(grown.families);
          expect(delta).toBe(value - standing);
          if (!taken) continue;
          grown.told([1, 0]);
          [told, standing] = [told + delta, value];
        }
        expect(told).toBe(standing);
      }),
    );
  });

  test("of a counter that has begun anew are what it has counted since", () => {
    const deltas = new Deltas([0, 0]);
    deltas.next(counter(10)).told([1, 0]);
    expect(valueOf(deltas.next(counter(3)).families)).toBe(3);
  });
});

test.each([
  ["bridge_legs_total", "bridge.legs", ""],
  ["bridge_outbox_oldest_age_seconds", "bridge.outbox_oldest_age", "s"],
  ["bridge_resident_memory_bytes", "bridge.resident_memory", "By"],
  ["bridge_cpu_seconds_total", "bridge.cpu", "s"],
  ["bridge_ready", "bridge.ready", ""],
  ["bridge_dlq_redrive_failures_total", "DLQRedriveFailures", ""],
])("%s is %s in %j", (prometheus, name, unit) => {
  expect(otlpName(prometheus)).toEqual({ name, unit });
});

describe("random ids", () => {
  test("have the digits that they should, are never zeros, and never come twice", () => {
    const ids = new RandomIds();
    const traces = Array.from({ length: 1_000 }, () => ids.generateTraceId());
    const spans = Array.from({ length: 1_000 }, () => ids.generateSpanId());
    expect(traces.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(spans.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true);
    expect(new Set([...traces, ...spans]).size).toBe(2_000);
    let filled = 0;
    const odd = new RandomIds((bytes) => bytes.fill(filled++ === 0 ? 0 : 7));
    expect(odd.generateSpanId()).toBe("07".repeat(8));
  });

  test("give out the trace id that was decided on, once", () => {
    const ids = new RandomIds();
    const next = ids.nextTraceId();
    expect(ids.nextTraceId()).toBe(next);
    expect(ids.generateTraceId()).toBe(next);
    expect(ids.generateTraceId()).not.toBe(next);
  });
});
