import { table } from "../../../src/harness/table.ts";
import { rate, shown } from "../../../src/report/format.ts";
import type { Kind } from "../pair.ts";
import { pairOf } from "../pair.ts";
import { CONTENDERS, MODES, PEERS } from "../run/contender.ts";
import type { Results, RowResult } from "../run/results.ts";
import { difference, figure, ratio } from "./compared.ts";

const WRITTEN: Readonly<Record<Kind, string>> = { mqtt: "MQTT", amqp: "AMQP", nats: "NATS", http: "HTTP" };

/** The figures as the documentation shows them, in Markdown. */
export function tables({ began, machine, versions, rows, planned }: Results): string {
  const on = `${machine.cores} × ${machine.cpu}, ${machine.memoryGb} GB, kernel ${machine.kernel}, Node ${machine.node}`;
  const brokers = `Mosquitto ${machine.mosquitto}, RabbitMQ ${versions["rabbitmq"]}, NATS ${versions["nats"]}`;
  const plain = rows.filter(({ delayMs }) => delayMs === 0);
  const sections = groups(plain).map(([title, group]) => `### ${title}\n\n${scriptTable(group)}`);
  const outbox = plain.filter(
    ({ runs }) => runs.direct_hold !== undefined && (runs.shared_outbox ?? runs.postgres_outbox) !== undefined,
  );
  const peers = plain.filter(({ runs }) => PEERS.some((peer) => runs[peer] !== undefined));
  const delayed = rows.filter(({ delayMs }) => delayMs > 0);
  return [
    `${began}, ${on}, ${brokers}, load ${machine.load.toFixed(1)}; ${rows.length} of ${planned.length} rows`,
    ...sections,
    ...(outbox.length > 0 ? [`### shared_outbox beside direct_hold\n\n${outboxTable(outbox)}`] : []),
    ...(peers.length > 0 ? [`### Beside others\n\n${peerTable(peers)}`] : []),
    ...(delayed.length > 0 ? [`### With a slow link to the source\n\n${delayTable(delayed)}`] : []),
  ].join("\n\n");
}

function groups(rows: readonly RowResult[]): readonly (readonly [string, readonly RowResult[]])[] {
  const byTitle = Map.groupBy(rows, ({ size, window }) => `${size.toLocaleString("en")} bytes, window ${window}`);
  return [...byTitle];
}

function scriptTable(rows: readonly RowResult[]): string {
  const head = ["", "script, k/s", "throughput / script", "CPU / script", "script, µs", "memory / script"];
  const latency = ["p50 script, bridge (ms)", "p99 script, bridge (ms)", "lost", "dup."];
  const cells = rows.map((row) => {
    const toScript = (name: string): string => shown(ratio(row, "direct_hold", "script", name), 2);
    const both = (name: string, digits: number): string =>
      `${median(row, "script", name, digits)}, ${median(row, "direct_hold", name, digits)}`;
    return [
      pairTitle(row),
      rate(figure(row, "script", "perSecond")),
      toScript("perSecond"),
      toScript("cpuMicros"),
      median(row, "script", "cpuMicros", 0),
      toScript("rssMb"),
      both("p50Ms", 2),
      both("p99Ms", 1),
      sumOf(row, "lost"),
      sumOf(row, "duplicated"),
    ];
  });
  return table([...head, ...latency], cells);
}

const OUTBOXES = { shared_outbox: "file", postgres_outbox: "PostgreSQL" } as const;

function outboxTable(rows: readonly RowResult[]): string {
  const head = [
    "",
    "size",
    "window",
    "outbox",
    "k/s",
    "throughput / direct_hold",
    "CPU / direct_hold",
    "p50 − direct_hold, ms",
  ];
  const cells = rows.flatMap((row) =>
    (["shared_outbox", "postgres_outbox"] as const)
      .filter((mode) => row.runs[mode] !== undefined)
      .map((mode) => [
        pairTitle(row),
        row.size.toLocaleString("en"),
        String(row.window),
        OUTBOXES[mode],
        rate(figure(row, mode, "perSecond")),
        shown(ratio(row, mode, "direct_hold", "perSecond"), 2),
        shown(ratio(row, mode, "direct_hold", "cpuMicros"), 2),
        shown(difference(row, mode, "direct_hold", "p50Ms"), 2),
      ]),
  );
  return table(head, cells);
}

function peerTable(rows: readonly RowResult[]): string {
  const head = ["", "size", "window", "", "k/s", "direct_hold / it", "CPU µs", "CPU µs with brokers", "MB"];
  const cells = rows.flatMap((row) =>
    CONTENDERS.filter((contender) => row.runs[contender] !== undefined).map((contender, index) => [
      ...(index === 0 ? [pairTitle(row), row.size.toLocaleString("en"), String(row.window)] : ["", "", ""]),
      contender,
      rate(figure(row, contender, "perSecond")),
      contender === "direct_hold" ? "" : shown(ratio(row, "direct_hold", contender, "perSecond"), 2),
      median(row, contender, "cpuMicros", 0),
      median(row, contender, "totalCpuMicros", 0),
      median(row, contender, "rssMb", 0),
      median(row, contender, "p50Ms", 2),
      median(row, contender, "p99Ms", 1),
      shown(figure(row, contender, "lost"), 0),
      shown(figure(row, contender, "duplicated"), 0),
    ]),
  );
  return table([...head, "p50 ms", "p99 ms", "lost", "dup."], cells);
}

function delayTable(rows: readonly RowResult[]): string {
  const head = ["", "round trip, ms", "window", "script, k/s", "direct_hold, k/s", "throughput / script", "lost"];
  const cells = rows.map((row) => [
    pairTitle(row),
    String(row.delayMs),
    String(row.window),
    rate(figure(row, "script", "perSecond")),
    rate(figure(row, "direct_hold", "perSecond")),
    shown(ratio(row, "direct_hold", "script", "perSecond"), 2),
    sumOf(row, "lost"),
  ]);
  return table(head, cells);
}

function pairTitle({ pair }: RowResult): string {
  const { from, to } = pairOf(pair);
  return `${WRITTEN[from]} → ${WRITTEN[to]}`;
}

function median(row: RowResult, contender: (typeof CONTENDERS)[number], name: string, digits: number): string {
  const value = figure(row, contender, name)?.median ?? Number.NaN;
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

/** Over all runs of the bridge. */
function sumOf({ runs }: RowResult, name: string): string {
  const all = MODES.flatMap((mode) => runs[mode] ?? []);
  return String(all.reduce((sum, run) => sum + (run[name] ?? 0), 0));
}
