import { setTimeout as delay } from "node:timers/promises";
import type { Binary } from "./binary.ts";
import { Cluster } from "./cluster.ts";

export interface Failovers {
  /** Of all that was published. */
  readonly published: number;
  readonly missing: number;
  readonly repeats: number;
  /** From each kill to the session of the next owner being connected, in milliseconds. */
  readonly tookMs: readonly number[];
}

/** Kills whoever holds the session, again and again while messages flow; each one killed is replaced by a new process. */
export async function failovers(count: number): Promise<Failovers> {
  await using cluster = await Cluster.start();
  let owner = cluster.run("i0");
  await carrying(owner);
  let standby = cluster.run("i1");
  const traffic = new AbortController();
  const published = cluster.publish(traffic.signal);
  const tookMs: number[] = [];
  for (let n = 1; n <= count; n++) {
    await standby.url("monitor");
    const before = cluster.arrived.size;
    while (cluster.arrived.size < before + 20) await delay(10);
    const killedAt = performance.now();
    owner.kill("SIGKILL");
    await owner.ended;
    owner = standby;
    standby = cluster.run(`i${n + 1}`);
    await carrying(owner);
    tookMs.push(performance.now() - killedAt);
  }
  traffic.abort();
  const total = await published;
  await cluster.complete();
  return {
    published: total,
    missing: total - cluster.arrived.size,
    repeats: cluster.target.accepted.length - total,
    tookMs,
  };
}

async function carrying(bridge: Binary): Promise<void> {
  await bridge.logged("lease acquired");
  await bridge.logged("session connected");
}
