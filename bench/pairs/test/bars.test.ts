import { describe, expect, it } from "vitest";
import { barVerdicts } from "../src/report/bars.ts";
import { tables } from "../src/report/tables.ts";
import { results, row } from "./support/results.ts";

const script = { perSecond: 10_000, cpuMicros: 20, rssMb: 100, p50Ms: 0.2, p99Ms: 1, lost: 0 };
const bridge = { perSecond: 9_500, cpuMicros: 25, rssMb: 150, p50Ms: 0.299, p99Ms: 1, lost: 0 };

function missed(rows: Parameters<typeof barVerdicts>[0]): readonly string[] {
  return barVerdicts(rows)
    .filter(({ reached }) => !reached)
    .map(({ bar }) => bar);
}

describe("bars", () => {
  it("are reached at the limit and missed beyond it", () => {
    expect(missed([row({ script, direct_hold: bridge })])).toEqual([]);
    const worse = { perSecond: 9_400, cpuMicros: 26, rssMb: 151, p50Ms: 0.31, lost: 1 };
    expect(missed([row({ script, direct_hold: worse })])).toEqual([
      "throughput / script ≥ 0.95",
      "CPU a message / script ≤ 1.25",
      "memory / script ≤ 1.5",
      "p50 at 1,000/s − script, ms ≤ 0.1",
      "messages lost, direct_hold ≤ 0",
    ]);
  });

  it("ask of a window of one that nothing is lost, and of who was not paced no latency", () => {
    const slow = { perSecond: 1, cpuMicros: 1_000, rssMb: 1_000, lost: 0 };
    expect(barVerdicts([row({ script, direct_hold: slow }, { window: 1 })]).map(({ bar }) => bar)).toEqual([
      "messages lost, direct_hold ≤ 0",
    ]);
    expect(barVerdicts([row({ script: slow, direct_hold: slow })]).some(({ bar }) => bar.startsWith("p50"))).toBe(
      false,
    );
  });

  it("hold the bridge against its peers, and the outbox against the bridge without", () => {
    const peer = (share: number) => ({ perSecond: 9_500 / share });
    expect(missed([row({ script, direct_hold: bridge, mosquitto: peer(0.66), "node-red": peer(1.01) })])).toEqual([]);
    expect(missed([row({ script, direct_hold: bridge, mosquitto: peer(0.64), "node-red": peer(0.99) })])).toEqual([
      "throughput / mosquitto ≥ 0.65",
      "throughput / node-red ≥ 1",
    ]);
    const outbox = { perSecond: 5_800, lost: 0 };
    expect(missed([row({ script, direct_hold: bridge, shared_outbox: outbox }, { pair: "mqtt-amqp" })])).toEqual([]);
    expect(
      missed([row({ script, direct_hold: bridge, shared_outbox: outbox, shovel: peer(0.76) }, { pair: "amqp-amqp" })]),
    ).toEqual(["shared_outbox / direct_hold ≥ 0.9"]);
  });

  it("hold a wide window with a slow link against a window of one", () => {
    const at = (window: number, perSecond: number) =>
      row({ script: { perSecond }, direct_hold: { perSecond, lost: 0 } }, { window, delayMs: 20 });
    expect(missed([at(1, 50), at(256, 10_001)])).toEqual([]);
    expect(missed([at(1, 50), at(256, 9_999)])).toEqual(["throughput / that of window 1 ≥ 200"]);
  });
});

describe("tables", () => {
  it("show each pair, sum up what was lost, and leave out what was not measured", () => {
    const shown = tables(results([row({ script, direct_hold: { ...bridge, lost: 1, p50Ms: Number.NaN } })]));
    expect(shown).toContain("### 256 bytes, window 100");
    expect(shown).toMatch(
      /MQTT → MQTT \| 10\.0 +\| 0\.95 +\| 1\.25 +\| 20 +\| 1\.50 +\| 0\.20, – +\| 1\.0, 1\.0 +\| 3 +\| 0/,
    );
    expect(shown).not.toContain("Beside others");
  });
});
