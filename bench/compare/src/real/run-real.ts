import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type TcpProxy, tcpProxy } from "@bridge/conformance/tcp-proxy";
import { freePorts } from "@bridge/tooling/listening";
import { BridgeApi } from "../../../torture/src/bridge/api.ts";
import { Bridge } from "../../../torture/src/parts/bridge.ts";
import { type Ended, legOf, type Outcome, placesOf } from "../outcome.ts";
import { bindingOf, type Scenario, type Trouble } from "../scenario.ts";
import { BridgeUnderTrouble } from "./bridge-under-trouble.ts";
import { ADMIN_KEY, documentOf, ROUTE } from "./document.ts";
import type { Names } from "./names.ts";
import { openSource, type RealSource } from "./source.ts";
import type { RealStage } from "./stage.ts";
import { openTargets, type RealTargets } from "./targets.ts";

const READY_TIMEOUT_MS = 60_000;
/** When this is over, what has not come does not come any more. */
const REST_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 50;
const REST_LOOK_EVERY_MS = 150;
/** It looks at rest so often in a row before it counts as that. */
const CALM_LOOKS = 2;

interface Scene extends Names {
  readonly stage: RealStage;
  readonly scenario: Scenario;
  readonly source: RealSource;
  readonly targets: RealTargets;
  readonly bridge: BridgeUnderTrouble;
  readonly api: BridgeApi;
  readonly sourceLink: TcpProxy;
  readonly targetLinks: readonly TcpProxy[];
}

/**
 * Runs a scenario with the built binary as a process, real brokers and stores. It is over when what the models have made of it
 * has come about, or does not come.
 */
export async function runReal(stage: RealStage, scenario: Scenario, run: string, models: Outcome): Promise<Outcome> {
  await using stack = new AsyncDisposableStack();
  const names = { run };
  const folder = join(stage.folder, run);
  await mkdir(folder);
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const source = await openSource(stage, names, scenario);
  stack.defer(() => source.remove());
  const targets = stack.use(await openTargets(stage, names, scenario));
  const link = async (port: number): Promise<TcpProxy> => stack.use(await tcpProxy({ target: { port } }));
  const sourceLink = await link(scenario.source === "mqtt" ? stage.mosquitto.port : stage.rabbitmqPort);
  const targetLinks = await Promise.all(targets.ports.map(link));
  const [admin, monitor] = (await freePorts(2)) as [number, number];
  const configuration = join(folder, "bridge.yaml");
  const document = documentOf({
    run,
    scenario,
    own: { admin, monitor },
    ports: { source: sourceLink.port, targets: targetLinks.map(({ port }) => port) },
    folder,
    url: scenario.store === "postgres" ? await stage.database(run) : undefined,
  });
  await writeFile(configuration, JSON.stringify(document));
  const { program, guard } = stage;
  const log = join(folder, "bridge.log");
  const proc = stack.use(new Bridge({ program, configuration, log, guard }));
  const bridge = new BridgeUnderTrouble(proc);
  const api = new BridgeApi({ admin, monitor }, ADMIN_KEY);
  const scene = { run, stage, scenario, source, targets, bridge, api, sourceLink, targetLinks };
  bridge.start();
  if (!(await ready(api))) throw new Error(`the bridge is not ready: ${await proc.lastWords()}`);
  // Both have to be over before anything is taken down: a trouble ends with a process that starts.
  const [published, troubled] = await Promise.allSettled([publishAll(scene), makeTrouble(scene)]);
  for (const half of [published, troubled]) if (half.status === "rejected") throw half.reason;
  const faults: string[] = [];
  if (!(await comesToRest(scene, models))) faults.push(`not at rest after ${REST_TIMEOUT_MS / 1_000} s`);
  const kept = await keptBy(scene).catch(() => undefined);
  if (kept === undefined) faults.push("the bridge does not say what it keeps");
  await bridge.end();
  const atSource = await source.left();
  // What has come meanwhile counts as well.
  return { ended: endedOf(scene, kept ?? new Map()), atSource, faults: [...faults, ...bridge.ends] };
}

async function ready(api: BridgeApi): Promise<boolean> {
  for (const end = performance.now() + READY_TIMEOUT_MS; performance.now() < end; await sleep(LOOK_EVERY_MS))
    if (await api.ready()) return true;
  return false;
}

async function publishAll({ scenario, source }: Scene): Promise<void> {
  const begun = performance.now();
  const published: Promise<void>[] = [];
  for (const message of scenario.messages) {
    await sleep(Math.max(0, begun + message.at - performance.now()));
    published.push(source.publish(message));
  }
  await Promise.all(published);
}

/** At the times of the plan, or later when one before it takes longer. */
async function makeTrouble(scene: Scene): Promise<void> {
  const begun = performance.now();
  for (const trouble of scene.scenario.troubles) {
    await sleep(Math.max(0, begun + trouble.at - performance.now()));
    await carryOut(trouble, scene);
  }
}

async function carryOut({ kind, forMs }: Trouble, scene: Scene): Promise<void> {
  const { bridge, stage, sourceLink, targetLinks } = scene;
  switch (kind) {
    case "kill":
    case "stop":
    case "freeze":
      return bridge[kind](forMs);
    case "source_cut":
      return sourceLink.cut();
    case "target_cut":
      return targetLinks.forEach((link) => link.cut());
    case "source_down":
      return takeDown([sourceLink], forMs);
    case "target_down":
      return takeDown(targetLinks, forMs);
    case "broker_restart":
      await stage.mosquitto.stop();
      await sleep(forMs);
      return stage.mosquitto.start();
    case "store_restart":
      await stage.postgres.stop("fast");
      await sleep(forMs);
      return stage.postgres.restart();
  }
}

async function takeDown(links: readonly TcpProxy[], forMs: number): Promise<void> {
  for (const link of links) {
    link.refuse();
    link.cut();
  }
  await sleep(forMs);
  await Promise.all(links.map((link) => link.restore()));
}

/** Whether all is where the models have it, and nothing is under way, for a while. */
async function comesToRest(scene: Scene, models: Outcome): Promise<boolean> {
  let calm = 0;
  for (const end = performance.now() + REST_TIMEOUT_MS; performance.now() < end; await sleep(REST_LOOK_EVERY_MS)) {
    calm = (await isAtRest(scene, models)) ? calm + 1 : 0;
    if (calm === CALM_LOOKS) return true;
  }
  return false;
}

async function isAtRest(scene: Scene, models: Outcome): Promise<boolean> {
  const delivered = [...models.ended].filter(([, { arrivals }]) => arrivals > 0);
  if (delivered.some(([leg]) => !scene.targets.arrivals.has(leg))) return false;
  try {
    const metrics = await scene.api.metrics();
    if (metrics.get("bridge_legs_in_flight") !== 0 || metrics.get("bridge_deliveries_in_flight") !== 0) return false;
    const real = endedOf(scene, await keptBy(scene));
    return [...models.ended].every(([leg, ended]) => placesOf(ended) === placesOf(real.get(leg) ?? { places: [] }));
  } catch {
    // It is starting, or away.
    return false;
  }
}

/** By leg: where the bridge itself has it. */
async function keptBy({ api, scenario, run }: Scene): Promise<ReadonlyMap<string, readonly string[]>> {
  const kept = new Map<string, string[]>();
  const note = (messageId: string, binding: string, place: string): void => {
    const leg = legOf(Number(messageId.slice(run.length + 1)), binding);
    kept.set(leg, [...(kept.get(leg) ?? []), place]);
  };
  for (const { messageId, bindingId, category, errorCode } of await api.deadLetters(ROUTE))
    note(messageId, bindingId, `dlq ${category} ${errorCode}`);
  if (scenario.mode === "shared_outbox")
    for (const { messageId, bindingId } of await api.waiting(ROUTE)) note(messageId, bindingId, "outbox");
  return kept;
}

function endedOf(
  { scenario, targets }: Scene,
  kept: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, Ended> {
  return new Map(
    scenario.messages.flatMap(({ number }) =>
      scenario.targets.map((_, index): [string, Ended] => {
        const leg = legOf(number, bindingOf(index));
        const arrivals = targets.arrivals.get(leg) ?? 0;
        return [leg, { arrivals, places: [...(arrivals > 0 ? ["delivered"] : []), ...(kept.get(leg) ?? [])] }];
      }),
    ),
  );
}
