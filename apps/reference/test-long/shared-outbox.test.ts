import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { PostgresCluster, noPostgresCluster } from "@bridge/tooling/postgres-cluster";
import { expect, test } from "vitest";
import { ask } from "../test/support/ask.ts";
import type { Binary } from "../test/support/binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "../test/support/folder.ts";

const CALLERS = 12;
const EACH = 250;
const MESSAGES = CALLERS * EACH;
const { signal } = new AbortController();

/** A web service that takes every message, and writes down which. */
async function openTarget(): Promise<AsyncDisposable & { readonly url: string; readonly ids: readonly string[] }> {
  const ids: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    ids.push(String(request.headers["idempotency-key"]));
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ids,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function documentOf(instance: string, postgres: string, target: string): string {
  const store = `{type: postgres, options: {url: "${postgres}"}}`;
  return `${HTTP}
bridge: {id: plant, instance_id: ${instance}, deployment_mode: clustered, max_drain_timeout: 1s, per_record_drain_timeout: 1s}
stores: {outbox: ${store}, dlq: ${store}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0"}}]
senders: [{id: out, transport: http, options: {url: "${target}"}}]
bindings: [{id: to-target, sender_id: out}]
routes: [{id: copy, receiver_id: in, delivery_mode: shared_outbox, bindings: [to-target], policy: {max_in_flight: 50, send_timeout: 1s}}]
`;
}

/** What it has in its books, and what they are out by. */
async function booksOf(bridge: Binary) {
  const url = `${await bridge.url("monitor")}/api/v1/monitor/metrics`;
  const text = await (await fetch(url, { headers: { "X-API-Key": ADMIN_KEY } })).text();
  const valueOf = (name: string) => Number(new RegExp(`^bridge_${name}(?:\\{.*\\})? (\\S+)$`, "m").exec(text)?.[1]);
  return { unaccounted: valueOf("unaccounted_messages"), inOutbox: valueOf("legs_in_outbox") };
}

test.skipIf(noPostgresCluster)(
  "two processes on one PostgreSQL: it is killed, frozen and restarted, and one of them killed; all that was accepted arrives",
  async () => {
    await using cluster = await PostgresCluster.start();
    await using target = await openTarget();
    using folder = new Folder();
    const args = (instance: string) => {
      folder.write(`${instance}.yaml`, documentOf(instance, cluster.url, target.url));
      return ["-config", `${instance}.yaml`];
    };
    await using tables = folder.run([...args("a"), "-create-tables"]);
    expect(await tables.ended).toBe(0);
    const bridges = new Map(["a", "b"].map((name) => [name, folder.run(args(name))]));
    await using _ = {
      [Symbol.asyncDispose]: async () =>
        void (await Promise.all([...bridges.values()].map((bridge) => bridge[Symbol.asyncDispose]()))),
    };

    /** Says it to one and another until one accepts it. */
    async function post(id: string, key: string, first: number): Promise<void> {
      for (let tries = first; ; tries++) {
        signal.throwIfAborted();
        const bridge = bridges.get(tries % 2 === 0 ? "a" : "b") as Binary;
        try {
          const { port } = await bridge.logged("HTTP receiver listens");
          const response = await fetch(`http://127.0.0.1:${String(port)}/ingest/in`, {
            method: "POST",
            headers: { "Idempotency-Key": id, "X-Ordering-Key": key },
            body: id,
            signal: AbortSignal.timeout(20_000),
          });
          if (response.status === 202) return;
        } catch {
          // It has just been killed, or does not answer.
        }
        await delay(50);
      }
    }
    const progress = { accepted: 0 };
    const calling = Array.from({ length: CALLERS }, async (__, caller) => {
      for (let i = 0; i < EACH; i++) {
        await post(`${caller}/${i}`, `key-${caller}`, caller + i);
        progress.accepted++;
      }
    });
    const after = async (part: number): Promise<void> => {
      const wanted = MESSAGES * part;
      while (progress.accepted < wanted) await delay(10, undefined, { signal });
    };
    const troubles = async (): Promise<void> => {
      await after(0.15);
      await cluster.stop("immediate");
      await cluster.restart();
      await after(0.35);
      bridges.get("a")?.kill("SIGKILL");
      await bridges.get("a")?.ended;
      bridges.set("a", folder.run(args("a")));
      await after(0.55);
      cluster.freeze();
      await delay(5_000);
      cluster.thaw();
      await after(0.75);
      await cluster.stop("fast");
      await cluster.restart();
    };
    await Promise.all([...calling, troubles()]);
    const arrived = () => new Set(target.ids);
    while (arrived().size < MESSAGES) await delay(100, undefined, { signal });
    console.log(`${MESSAGES} messages, ${target.ids.length - MESSAGES} of them twice`);
    // Of each key, those that came for the first time came in order.
    for (let caller = 0; caller < CALLERS; caller++) {
      const own = [...arrived()].filter((id) => id.startsWith(`${caller}/`)).map((id) => Number(id.split("/")[1]));
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
    for (const bridge of bridges.values()) {
      await expect
        .poll(() => booksOf(bridge), { timeout: 120_000, interval: 500 })
        .toEqual({ unaccounted: 0, inOutbox: 0 });
      const admin = await bridge.url("admin");
      expect((await ask(`${admin}/api/v1/admin/dlq`)).body).toMatchObject({ count: 0 });
      bridge.kill("SIGTERM");
      expect(await bridge.ended).toBe(0);
    }
  },
);
