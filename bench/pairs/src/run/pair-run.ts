import { tcpProxy } from "@bridge/conformance/tcp-proxy";
import type { OutboxBlock } from "../../../src/bridge/start-bridge.ts";
import { Child } from "../../../src/harness/child.ts";
import { fileOutbox } from "../../../src/harness/file-outbox.ts";
import { postgresOutbox } from "../../../src/harness/postgres-outbox.ts";
import type { SinkJob } from "../../../src/load/sink.ts";
import type { SourceJob } from "../../../src/load/source.ts";
import { LOAD, LoadRun, PHASE_TIMEOUT_MS } from "../../../src/suite/load-run.ts";
import type { Run } from "../../../src/suite/measurement.ts";
import type { RabbitMq } from "../brokers/rabbitmq.ts";
import { openScene, type Scene } from "../brokers/scene.ts";
import type { EndJob, PairJob } from "../job.ts";
import { type PairName, pairOf } from "../pair.ts";
import { bridgeTo } from "../peers/mosquitto-bridge.ts";
import { startNodeRed } from "../peers/node-red.ts";
import { startShovel } from "../peers/shovel.ts";
import type { Carrying } from "./carrying.ts";
import type { Contender } from "./contender.ts";
import type { Opened } from "./round.ts";

export interface PairRun {
  readonly pair: PairName;
  readonly contender: Contender;
  readonly size: number;
  readonly window: number;
  /** Added round trip of the link to the source, in milliseconds. */
  readonly delayMs: number;
  readonly profileDir: string | undefined;
}

const SCRIPT = new URL("../script/main.ts", import.meta.url);
const BRIDGE = new URL("../bridge/main.ts", import.meta.url);

/** Starts brokers, the load and the contender, each in a process of its own; only RabbitMQ has run before. */
export async function openPairRun(run: PairRun, rabbit: RabbitMq | undefined): Promise<Opened> {
  const { contender, window } = run;
  await using opened = new AsyncDisposableStack();
  const scene = opened.use(
    await openScene({
      pair: pairOf(run.pair),
      rabbit,
      sourceSettings: contender === "mosquitto" ? (target) => bridgeTo(target, window) : undefined,
    }),
  );
  const load = opened.use(await Child.start({ program: LOAD, job: { size: run.size } }));
  const sinkPort = await load.ask<number>("sink", sinkOf(scene.to), PHASE_TIMEOUT_MS);
  const link = run.delayMs === 0 ? undefined : opened.use(await slowLink(scene.from.port, run.delayMs));
  // The link ends at a broker that the contender calls, or at the contender that a client calls.
  const [near, far] = [scene.from.port, link?.port ?? scene.from.port];
  const isServer = scene.from.kind === "http";
  const job: PairJob = {
    from: { ...scene.from, port: isServer ? near : far },
    to: { ...scene.to, port: sinkPort },
    window,
  };
  const carrying = opened.use(await start(run, job, scene, rabbit));
  const source = sourceOf({ ...scene.from, port: isServer ? far : near }, window);
  await load.ask("source", source, PHASE_TIMEOUT_MS);

  const brokersCpuMicros = async (): Promise<number> => (await scene.cpuMs()) * 1_000;
  const loadRun = new LoadRun({ window, load, contender: carrying, counters: { brokersCpuMicros } });
  const all = opened.move();
  return { load: loadRun, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The figures of a run with the CPU of contender and brokers together. */
export function withTotalCpu(run: Run): Run {
  const { cpuMicros = Number.NaN, brokersCpuMicros = Number.NaN } = run;
  const all = { ...run, totalCpuMicros: brokersCpuMicros + (Number.isNaN(cpuMicros) ? 0 : cpuMicros) };
  // What nobody can tell of a contender that lives in a broker is not there.
  return Object.fromEntries(Object.entries(all).filter(([, value]) => !Number.isNaN(value)));
}

async function start(run: PairRun, job: PairJob, scene: Scene, rabbit: RabbitMq | undefined): Promise<Carrying> {
  const { contender, profileDir } = run;
  switch (contender) {
    case "script":
      return Child.start({ program: SCRIPT, job, profileDir });
    case "direct_hold":
      return Child.start({ program: BRIDGE, job, profileDir });
    case "shared_outbox":
      return startWithOutbox(job, await fileOutbox(), profileDir);
    case "postgres_outbox":
      return startWithOutbox(job, await postgresOutbox(), profileDir);
    case "mosquitto":
      return inside(scene);
    case "shovel":
      if (rabbit === undefined) throw new Error("Shovel needs a RabbitMQ");
      return startShovel(rabbit, job);
    case "node-red":
      return startNodeRed(job);
  }
}

/** The outbox goes when the bridge is gone. */
async function startWithOutbox(
  job: PairJob,
  outbox: AsyncDisposable & { readonly block: OutboxBlock },
  profileDir: string | undefined,
): Promise<Carrying> {
  await using opened = new AsyncDisposableStack();
  const { block } = opened.use(outbox);
  const child = opened.use(await Child.start({ program: BRIDGE, job: { ...job, outbox: block }, profileDir }));
  const all = opened.move();
  return { usage: () => child.usage(), [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The source's broker carries the messages itself; how much of its CPU that takes nobody can tell. */
function inside({ sourceBroker }: Scene): Carrying {
  return {
    async usage() {
      return { cpuMs: Number.NaN, peakRssBytes: (await sourceBroker?.usage())?.peakRssBytes ?? Number.NaN };
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function slowLink(port: number, roundTripMs: number): Promise<AsyncDisposable & { readonly port: number }> {
  const proxy = await tcpProxy({ target: { port } });
  proxy.delay(roundTripMs / 2);
  return proxy;
}

function sinkOf({ kind, port, name }: EndJob): SinkJob {
  switch (kind) {
    case "mqtt":
      return { kind, port, topic: name };
    case "amqp":
      return { kind, port, queue: name };
    case "nats":
      return { kind, port, stream: name };
    case "http":
      return { kind };
  }
}

function sourceOf({ kind, port, name }: EndJob, window: number): SourceJob {
  switch (kind) {
    case "mqtt":
      return { kind, port, topic: name };
    case "amqp":
      return { kind, port, queue: name };
    case "nats":
      return { kind, port, subject: name };
    case "http":
      return { kind, port, path: name, connections: window };
  }
}
