import { Child } from "../harness/child.ts";
import { freePort, startMosquitto } from "../harness/mosquitto.ts";
import type { Balance, Latency } from "../load/ledger.ts";
import type { Flood, Pace } from "../load/flow.ts";
import type { SinkJob } from "../load/sink.ts";
import type { SourceJob } from "../load/source.ts";
import type { CONTENDERS } from "./contender.ts";
import type { Run } from "./measurement.ts";
import type { RouteJob } from "./route-job.ts";

/** The pairs of transports that are measured, with the programs that do the same work. */
const ROUTES = {
  "mqtt-mqtt": {
    script: new URL("../baseline/mqtt-to-mqtt.ts", import.meta.url),
    bridge: new URL("../bridge/mqtt-to-mqtt.ts", import.meta.url),
  },
  "mqtt-http": {
    script: new URL("../baseline/mqtt-to-http.ts", import.meta.url),
    bridge: new URL("../bridge/mqtt-to-http.ts", import.meta.url),
  },
  "http-mqtt": {
    script: new URL("../baseline/http-to-mqtt.ts", import.meta.url),
    bridge: new URL("../bridge/http-to-mqtt.ts", import.meta.url),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<RouteRun["contender"], URL>>>>;

export type RouteName = keyof typeof ROUTES;

export interface RouteRun {
  readonly route: RouteName;
  readonly contender: (typeof CONTENDERS)[number];
  readonly size: number;
  readonly window: number;
  readonly warmUp: number;
  readonly messages: number;
  /** Seconds at 1,000 messages a second; 0 measures no latency. */
  readonly pacedSeconds: number;
  readonly profileDir: string | undefined;
  /** The file of an outbox between the two ends; none by default. */
  readonly outbox?: string | undefined;
  /** Stands between the source's broker and the contender, and is told the broker's port; none by default. */
  readonly link?: ((port: number) => Promise<AsyncDisposable & { readonly port: number }>) | undefined;
}

const LOAD = new URL("../load/main.ts", import.meta.url);
export const PHASE_TIMEOUT_MS = 120_000;
const PACE_PER_SECOND = 1_000;
/** Messages between the two ends of the load, as a multiple of the window: there is always one more to take. */
const OUTSTANDING = 4;
const [TOPIC_IN, TOPIC_OUT, PATH] = ["bench/in", "bench/out", "/bench"] as const;

/** One run: a broker, the load and the contender, each in a process of its own and used only once. */
export async function runRoute(run: RouteRun): Promise<Run> {
  await using broker = await startMosquitto();
  await using load = await Child.start({ program: LOAD, job: { size: run.size } });
  await using link = await run.link?.(broker.port);
  const [from, to] = run.route.split("-") as ["mqtt" | "http", "mqtt" | "http"];

  const sink: SinkJob = to === "mqtt" ? { kind: "mqtt", port: broker.port, topic: TOPIC_OUT } : { kind: "http" };
  const sinkPort = await load.ask<number>("sink", sink, PHASE_TIMEOUT_MS);
  const sourcePort = from === "mqtt" ? broker.port : await freePort();

  const job: RouteJob = {
    from: { port: link?.port ?? sourcePort, name: from === "mqtt" ? TOPIC_IN : PATH },
    to: { port: sinkPort, name: to === "mqtt" ? TOPIC_OUT : PATH },
    window: run.window,
    outbox: run.outbox,
  };
  const program = ROUTES[run.route][run.contender];
  await using contender = await Child.start({ program, job, profileDir: run.profileDir });

  const source: SourceJob =
    from === "mqtt"
      ? { kind: "mqtt", port: sourcePort, topic: TOPIC_IN }
      : { kind: "http", port: sourcePort, path: PATH, connections: run.window };
  await load.ask("source", source, PHASE_TIMEOUT_MS);
  return await measure(run, load, contender);
}

/** What else is to be looked at when the flood begins and when it has ended. */
export interface Around {
  before(): Promise<void>;
  after(): Promise<void>;
}

/** Has the load go through a contender: as much as goes, then at a pace. */
export async function measure(
  { window, warmUp, messages, pacedSeconds }: Pick<RouteRun, "window" | "warmUp" | "messages" | "pacedSeconds">,
  load: Child,
  contender: Child,
  around?: Around,
): Promise<Run> {
  const outstanding = OUTSTANDING * window;
  const flood = (count: number): Promise<number> =>
    load.ask<number>("flood", { messages: count, outstanding } satisfies Flood, PHASE_TIMEOUT_MS);

  await flood(warmUp);
  await around?.before();
  const before = await contender.usage();
  const elapsedMs = await flood(messages);
  const after = await contender.usage();
  await around?.after();
  const latency = pacedSeconds === 0 ? undefined : await paced(load, pacedSeconds);
  const { lost, duplicated, refused } = await load.ask<Balance>("balance", undefined, PHASE_TIMEOUT_MS);

  const cpuMs = after.cpuMs - before.cpuMs;
  return {
    perSecond: (messages / elapsedMs) * 1_000,
    cpuMicros: (cpuMs / messages) * 1_000,
    /** The share of a core that the contender used: far below 1, something else set the pace. */
    busy: cpuMs / elapsedMs,
    rssMb: after.peakRssBytes / 2 ** 20,
    ...latency,
    lost,
    duplicated,
    refused,
  };
}

async function paced(load: Child, seconds: number): Promise<Latency> {
  const pace = (length: number): Promise<Latency> =>
    load.ask<Latency>("pace", { perSecond: PACE_PER_SECOND, seconds: length } satisfies Pace, PHASE_TIMEOUT_MS);
  // The first second still pays for what the flood left behind.
  await pace(1);
  return pace(seconds);
}
