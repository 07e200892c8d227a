import { Child } from "../harness/child.ts";
import { startMosquitto } from "../harness/mosquitto.ts";
import type { SinkJob } from "../load/sink.ts";
import type { SourceJob } from "../load/source.ts";
import { SqsPeer } from "../load/sqs-peer.ts";
import { CONTENDERS, type Settings } from "./contender.ts";
import { alternate, type Measurement, type Run } from "./measurement.ts";
import { LOAD, measure, PHASE_TIMEOUT_MS, type Volume } from "./load-run.ts";
import type { RouteJob } from "./route-job.ts";

const ROUTES = {
  "sqs-sqs": {
    script: new URL("../baseline/sqs-to-sqs.ts", import.meta.url),
    bridge: new URL("../bridge/sqs-to-sqs.ts", import.meta.url),
  },
  "mqtt-sqs": {
    script: new URL("../baseline/mqtt-to-sqs.ts", import.meta.url),
    bridge: new URL("../bridge/mqtt-to-sqs.ts", import.meta.url),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<SqsContender, URL>>>>;

type SqsContender = (typeof CONTENDERS)[number];
export type SqsRouteName = keyof typeof ROUTES;

const EMULATOR = new URL("../harness/fauxqs.ts", import.meta.url);
const [QUEUE_IN, QUEUE_OUT, TOPIC] = ["in", "out", "bench/in"] as const;
const MESSAGES = 30_000;
/** By then both programs are as quick as they get. */
const WARM_UP = 10_000;
const PACED_SECONDS = 3;

/** Into a queue of an emulator, at each size and window; the emulator is slower than both contenders. */
export async function* sqsSuite(route: SqsRouteName, settings: Settings): AsyncGenerator<Measurement> {
  const { sizes, windows, rounds, profileDir, messages = MESSAGES } = settings;
  for (const size of sizes) {
    for (const window of windows) {
      const warmUp = Math.min(WARM_UP, messages);
      const shared = { size, window, messages, warmUp, pacedSeconds: PACED_SECONDS, profileDir };
      const runs = await alternate(rounds, CONTENDERS, (contender) => run(route, contender, shared));
      yield { suite: route, name: `${size} B, window ${window}`, runs };
    }
  }
}

async function run(
  route: SqsRouteName,
  contender: SqsContender,
  shared: Volume & { readonly size: number; readonly profileDir: string | undefined },
): Promise<Run> {
  await using emulator = await Child.start({ program: EMULATOR, job: {} });
  const port = await emulator.ask<number>("port", undefined, PHASE_TIMEOUT_MS);
  for (const queue of [QUEUE_IN, QUEUE_OUT]) await new SqsPeer(port, queue).create();
  await using broker = route === "mqtt-sqs" ? await startMosquitto() : undefined;
  await using load = await Child.start({ program: LOAD, job: { size: shared.size } });
  const sink: SinkJob = { kind: "sqs", port, queue: QUEUE_OUT };
  await load.ask("sink", sink, PHASE_TIMEOUT_MS);

  const job: RouteJob = {
    from: broker === undefined ? { port, name: QUEUE_IN } : { port: broker.port, name: TOPIC },
    to: { port, name: QUEUE_OUT },
    window: shared.window,
  };
  const program = ROUTES[route][contender];
  await using child = await Child.start({ program, job, profileDir: shared.profileDir });
  const source: SourceJob =
    broker === undefined ? { kind: "sqs", port, queue: QUEUE_IN } : { kind: "mqtt", port: broker.port, topic: TOPIC };
  await load.ask("source", source, PHASE_TIMEOUT_MS);

  const requestsPerMessage = (): Promise<number> => emulator.ask<number>("requests", undefined, PHASE_TIMEOUT_MS);
  return await measure(shared, { window: shared.window, load, contender: child, counters: { requestsPerMessage } });
}
