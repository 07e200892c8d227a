import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eventually, probe } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { Cluster, JUMPING_CLOCK, TTL_MS } from "./support/cluster.ts";
import { failovers } from "./support/failovers.ts";
import { noMosquitto } from "./support/mosquitto.ts";

async function role(bridge: Binary): Promise<unknown> {
  const { body } = await probe(await bridge.url("monitor"), "ready?level=live");
  return (body as { role?: unknown }).role;
}

async function becomes(bridge: Binary, level: string, wanted: string): Promise<void> {
  const monitor = await bridge.url("monitor");
  await eventually(
    () => probe(monitor, `ready?level=${level}` as const),
    ({ status, body }) => status === 200 && (body as { role?: unknown }).role === wanted,
  );
}

/** An owner, with `preload` loaded before it, and a standby. */
async function pair(cluster: Cluster, preload?: string): Promise<readonly [owner: Binary, standby: Binary]> {
  const owner = cluster.run("a", preload);
  await becomes(owner, "full", "active");
  const standby = cluster.run("b");
  await becomes(standby, "subscribed", "standby");
  expect((await probe(await standby.url("monitor"), "ready")).status).toBe(503);
  return [owner, standby];
}

describe
  .skipIf(noMosquitto)
  .concurrent("two processes on one exclusive session, with Mosquitto", { timeout: 180_000 }, () => {
    test("failovers by SIGKILL under traffic: all that was published arrives", async () => {
      const { missing, repeats } = await failovers(2);
      expect(missing).toBe(0);
      expect(repeats).toBeLessThanOrEqual(2 * 20);
    });

    test("an owner that stood still past its ttl writes nothing under its old token when it goes on, and exits 1", async () => {
      await using cluster = await Cluster.start();
      const [owner, standby] = await pair(cluster);
      const traffic = new AbortController();
      const published = cluster.publish(traffic.signal);
      while (cluster.arrived.size < 50) await delay(20);
      owner.kill("SIGSTOP");
      await becomes(standby, "full", "active");
      const lease = await cluster.lease();
      expect(lease).toMatchObject({ token: 2 });
      expect(lease?.holder).toMatch(/^b\//);
      owner.kill("SIGCONT");
      expect(await owner.ended).toBe(1);
      expect(
        owner.log.find(({ msg }) => msg === "the bridge is beyond recovery: a new process has to take over"),
      ).toMatchObject({
        cause: "lease_lost",
      });
      expect(await cluster.lease()).toMatchObject({ token: 2, holder: lease?.holder });
      expect(await role(standby)).toBe("active");
      traffic.abort();
      await published;
      await cluster.complete();
    });

    test("without the lease store the owner ends and the standby waits; when it is back the standby takes over", async () => {
      await using cluster = await Cluster.start();
      const [owner, standby] = await pair(cluster);
      cluster.dynamo.choose = () => "cut";
      expect(await owner.ended).toBe(1);
      await delay(TTL_MS);
      expect(await role(standby)).toBe("standby");
      expect((await probe(await standby.url("monitor"), "live")).status).toBe(200);
      cluster.dynamo.choose = () => undefined;
      await becomes(standby, "full", "active");
      expect(await cluster.lease()).toMatchObject({ token: 2 });
    });

    test("finding 7.5: an owner whose time of day jumps ahead steps down, and the session is taken under a new token", async () => {
      await using cluster = await Cluster.start();
      const [owner, standby] = await pair(cluster, JUMPING_CLOCK);
      while (((await cluster.lease())?.token ?? 0) < 2) await delay(100);
      // Which of the two has it now is a matter of who asked first.
      const holder = Promise.any([becomes(owner, "full", "active"), becomes(standby, "full", "active")]);
      await expect(holder).resolves.toBeUndefined();
    });
  });
