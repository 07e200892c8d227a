import { setTimeout as sleep } from "node:timers/promises";
import type { Flags } from "./flags.ts";
import { memoryFrom, residentMib } from "./memory.ts";
import type { Result } from "./result.ts";
import type { Scene } from "./scene.ts";

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 60_000;
const READ_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 200;
const SHOW_EVERY = 30;
/** When nothing has moved for so long, what is missing does not come any more. */
const STUCK_MS = 60_000;

/** With the target there, so that what happens then does not begin in a process that has never worked. */
export const WARM_UP_S = 60;

/** One outage, from the first message until all have arrived or nothing moves any more. */
export async function outage(
  scene: Scene,
  { mode, minutes, rate, size }: Flags,
  messages: number,
  show: (line: string) => void,
  signal: AbortSignal,
): Promise<Result> {
  const { api, load, pid } = scene;
  const began = Date.now();
  await ready(scene, signal);
  await load.openTarget(scene.webPort);
  const offered = load.offer({ port: scene.brokerPort, perSecond: rate, messages });
  offered.catch(() => {});
  const readings: number[] = [];
  show(`${WARM_UP_S} s with the target there`);
  await sleep(WARM_UP_S * 1_000, undefined, { signal });
  await load.closeTarget();
  const start = performance.now();
  for (let second = 1; second <= minutes * 60; second++) {
    await sleep(Math.max(0, start + second * READ_EVERY_MS - performance.now()), undefined, { signal });
    const resident = await residentMib(pid);
    readings.push(resident);
    if (second % SHOW_EVERY === 0) show(`${second} s of ${minutes * 60}: ${resident.toFixed(0)} MiB resident`);
  }
  await offered;
  const { lost: missing } = await load.balance();
  if (mode === "shared_outbox") {
    await patiently(signal, async () => {
      const inOutbox = (await api.metrics()).get("bridge_legs_in_outbox") ?? 0;
      return { reached: inOutbox >= missing, state: inOutbox };
    });
  }
  const held = await api.metrics();
  await load.openTarget(scene.webPort);
  const recovering = performance.now();
  await recovery(scene, show, signal);
  const recoverySeconds = (performance.now() - recovering) / 1_000;
  const [balance, metrics, afterwards] = [await load.balance(), await api.metrics(), await residentMib(pid)];
  return {
    flags: { mode, minutes, rate, size },
    began: new Date(began).toISOString(),
    memory: memoryFrom(readings),
    readings: readings.map((mib) => Math.round(mib * 10) / 10),
    afterwards,
    missing,
    inOutbox: held.get("bridge_legs_in_outbox") ?? 0,
    inFlight: held.get("bridge_legs_in_flight") ?? 0,
    attempts: held.get("bridge_attempts_total") ?? 0,
    recoverySeconds,
    balance,
    unaccounted: [held, metrics].map((all) => all.get("bridge_unaccounted_messages") ?? Number.NaN),
    lastEnding: String(await scene.bridge.terminate(STOP_TIMEOUT_MS).catch((error: Error) => error.message)),
    folder: scene.folder,
  };
}

async function ready({ api, bridge }: Scene, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + READY_TIMEOUT_MS; performance.now() < end && bridge.running;) {
    if (await api.ready()) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
  throw new Error("the bridge was not ready: see its log");
}

/** Until everything has arrived and the bridge has entered it, or nothing moves any more. */
async function recovery({ api, load }: Scene, show: (line: string) => void, signal: AbortSignal): Promise<void> {
  let looks = 0;
  await patiently(signal, async () => {
    const [balance, metrics] = [await load.balance(), await api.metrics()];
    const open = (metrics.get("bridge_legs_in_flight") ?? 0) + (metrics.get("bridge_legs_in_outbox") ?? 0);
    if (++looks % SHOW_EVERY === 0) show(`the target is back: ${balance.lost} have not arrived yet`);
    return { reached: balance.lost === 0 && open === 0, state: JSON.stringify([balance, open]) };
  });
}

/** Looks each second until something is reached, or nothing moves any more. */
async function patiently(
  signal: AbortSignal,
  look: () => Promise<{ readonly reached: boolean; readonly state: unknown }>,
): Promise<void> {
  let before: unknown;
  for (let movedAt = performance.now(); performance.now() - movedAt < STUCK_MS;) {
    const { reached, state } = await look();
    if (reached) return;
    if (state !== before) movedAt = performance.now();
    before = state;
    await sleep(READ_EVERY_MS, undefined, { signal });
  }
}
