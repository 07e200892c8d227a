import type { Run } from "../../../src/suite/measurement.ts";
import type { Contender } from "../../src/run/contender.ts";
import type { Results, RowResult } from "../../src/run/results.ts";
import { rowName } from "../../src/run/row.ts";

/** A row of figures; one run stands for three equal ones. */
export function row(
  runs: Readonly<Partial<Record<Contender, Run | readonly Run[]>>>,
  fields: Partial<Omit<RowResult, "runs">> = {},
): RowResult {
  const all = Object.entries(runs).map(([contender, own]) => [contender, Array.isArray(own) ? own : [own, own, own]]);
  return {
    pair: "mqtt-mqtt",
    size: 256,
    window: 100,
    delayMs: 0,
    ...fields,
    runs: Object.fromEntries(all) as RowResult["runs"],
  };
}

export function results(rows: readonly RowResult[], planned: readonly string[] = rows.map(rowName)): Results {
  const machine = { cpu: "a", cores: 2, memoryGb: 1, kernel: "6", node: "v26", mosquitto: "2", load: 0 };
  return { began: "2026-01-01T00:00:00.000Z", machine, versions: {}, planned, rows, failures: [] };
}
