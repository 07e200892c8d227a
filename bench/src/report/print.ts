import { table } from "../harness/table.ts";
import { CONTENDERS } from "../suite/contender.ts";
import { figure, type Measurement, ratio } from "../suite/measurement.ts";
import { rate, shown } from "./format.ts";

/** What is shown of each contender's runs: title, figure, and how it is written. */
const COLUMNS = [
  ["k msg/s", "perSecond", rate],
  ["CPU µs", "cpuMicros", 2],
  ["of a core", "busy", 2],
  ["RSS MB", "rssMb", 0],
  ["ms", "elapsedMs", 0],
  ["p50 ms", "p50Ms", 2],
  ["p99 ms", "p99Ms", 1],
  ["requests a message", "requestsPerMessage", 2],
  ["loop p99 ms", "loopP99Ms", 1],
  ["loop max ms", "loopMaxMs", 1],
  ["turn p99 ms", "turnP99Ms", 1],
  ["turn max ms", "turnMaxMs", 1],
  ["MB before", "rssBeforeMb", 0],
  ["RSS 4th/2nd quarter", "rssGrew", 2],
  ["traffic/s", "trafficPerSecond", 0],
  ["traffic late ms", "trafficLateMs", 1],
  ["lost", "lost", 0],
  ["dup.", "duplicated", 0],
  ["refused", "refused", 0],
] as const;

type Column = (typeof COLUMNS)[number];

/** Figures of which a multiple means something. */
const RATIOS: ReadonlySet<string> = new Set([
  "perSecond",
  "cpuMicros",
  "rssMb",
  "elapsedMs",
  "p50Ms",
  "p99Ms",
  "requestsPerMessage",
]);

/** The measurements of one suite: each contender, and the bridge as a multiple of its yardstick. */
export function resultTable(measurements: readonly Measurement[]): string {
  const known = new Set(measurements.flatMap(({ runs }) => Object.keys(runs.bridge?.[0] ?? {})));
  const columns = COLUMNS.filter(([, name]) => known.has(name));
  const rows = measurements.flatMap((measurement) => rowsOf(measurement, columns));
  return table(["", "contender", ...columns.map(([title]) => title)], rows);
}

function rowsOf(measurement: Measurement, columns: readonly Column[]): readonly (readonly string[])[] {
  const rows: string[][] = [];
  for (const contender of CONTENDERS) {
    if (measurement.runs[contender] === undefined) continue;
    const cells = columns.map(([, name, write]) => {
      const spread = figure(measurement, contender, name);
      return typeof write === "number" ? shown(spread, write) : write(spread);
    });
    rows.push([rows.length === 0 ? measurement.name : "", contender, ...cells]);
  }
  if (rows.length < 2) return rows;
  const ratios = columns.map(([, name]) => (RATIOS.has(name) ? shown(ratio(measurement, name), 2) : ""));
  return [...rows, ["", "ratio", ...ratios]];
}
