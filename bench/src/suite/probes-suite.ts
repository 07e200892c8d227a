import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { bareStart, Reference } from "../binary/reference.ts";
import { Child } from "../harness/child.ts";
import { folder } from "../harness/folder.ts";
import { startMosquitto } from "../harness/mosquitto.ts";
import { quantile } from "../harness/spread.ts";
import type { Flood } from "../load/flow.ts";
import type { Balance } from "../load/ledger.ts";
import type { SinkJob } from "../load/sink.ts";
import type { SourceJob } from "../load/source.ts";
import type { Settings } from "./contender.ts";
import { LOAD, PHASE_TIMEOUT_MS } from "./load-run.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";

const SIZE = 256;
const WINDOW = 100;
const OUTSTANDING = 4;
const MESSAGES = 100_000;
const WARM_UP = 5_000;
const PROBE_EVERY_MS = 10;
const [TOPIC_IN, TOPIC_OUT] = ["bench/in", "bench/out"] as const;

type Figures = Readonly<Record<"bare" | "full" | "validated" | "live" | "ready", Run>>;

/** The built binary with a route from MQTT to MQTT: how soon it is there, and what its probes say under full load. */
export async function* probesSuite(settings: Settings): AsyncGenerator<Measurement> {
  const all: Figures[] = [];
  await alternate(settings.rounds, ["bridge"], async () => {
    all.push(await figures(settings));
    return {};
  });
  for (const [part, name] of [
    ["full", "start to full"],
    ["validated", "-validate"],
    ["live", "/live under full load"],
    ["ready", "/ready under full load"],
  ] as const) {
    const bridge = all.map((each) => each[part]);
    const isStart = part === "full" || part === "validated";
    // What starting costs at all on this machine, now.
    yield { suite: "probes", name, runs: isStart ? { script: all.map((each) => each.bare), bridge } : { bridge } };
  }
}

async function figures(settings: Settings): Promise<Figures> {
  await using broker = await startMosquitto();
  await using place = await folder();
  await using bridge = await Reference.configured(place.path, documentOf(place.path, broker.port));
  const bareMs = await bareStart();
  const validatedMs = await bridge.validate();
  const fullMs = await bridge.start(settings.profileDir);

  await using load = await Child.start({ program: LOAD, job: { size: SIZE } });
  const sink: SinkJob = { kind: "mqtt", port: broker.port, topic: TOPIC_OUT };
  await load.ask("sink", sink, PHASE_TIMEOUT_MS);
  const source: SourceJob = { kind: "mqtt", port: broker.port, topic: TOPIC_IN };
  await load.ask("source", source, PHASE_TIMEOUT_MS);
  const flood = (messages: number): Promise<number> =>
    load.ask<number>("flood", { messages, outstanding: OUTSTANDING * WINDOW } satisfies Flood, PHASE_TIMEOUT_MS);

  await flood(WARM_UP);
  const messages = settings.messages ?? MESSAGES;
  const stop = new AbortController();
  const flooding = flood(messages).finally(() => stop.abort());
  const [live, ready] = await Promise.all([
    probe(`${bridge.monitor}/live`, stop.signal),
    probe(`${bridge.monitor}/ready`, stop.signal),
  ]);
  const perSecond = (messages / (await flooding)) * 1_000;
  const { lost } = await load.ask<Balance>("balance", undefined, PHASE_TIMEOUT_MS);
  return {
    bare: { elapsedMs: bareMs },
    full: { elapsedMs: fullMs },
    validated: { elapsedMs: validatedMs },
    live: { ...live, perSecond, lost },
    ready: { ...ready, perSecond, lost },
  };
}

/** Asks over and over, until told to stop; every answer must be 200. */
async function probe(url: string, signal: AbortSignal): Promise<Run> {
  const { origin, pathname } = new URL(url);
  const times: number[] = [];
  const pool = new Pool(origin, { connections: 1 });
  while (!signal.aborted) {
    const begin = performance.now();
    const { statusCode, body } = await pool.request({ method: "GET", path: pathname });
    await body.dump();
    times.push(performance.now() - begin);
    if (statusCode !== 200) throw new Error(`${url} is answered with ${statusCode}`);
    await sleep(PROBE_EVERY_MS);
  }
  await pool.close();
  const sorted = Float64Array.from(times).toSorted();
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

function documentOf(folderPath: string, port: number): object {
  const broker_urls = [`mqtt://127.0.0.1:${port}`];
  return {
    stores: { dlq: { type: "file", options: { path: join(folderPath, "dlq.db") } } },
    sessions: [
      { id: "source", transport: "mqtt", session_mode: "persistent", options: { broker_urls } },
      { id: "target", transport: "mqtt", session_mode: "persistent", options: { broker_urls } },
    ],
    receivers: [{ id: "in", session_id: "source", topics: [{ topic: TOPIC_IN, qos: 1 }] }],
    senders: [{ id: "out", session_id: "target" }],
    bindings: [{ id: "to-out", sender_id: "out", address: TOPIC_OUT }],
    routes: [{ id: "route", receiver_id: "in", bindings: ["to-out"], policy: { max_in_flight: WINDOW } }],
  };
}
