import { createRegistry } from "@bridge/config";
import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import type { MonitorKeys } from "@bridge/http-monitor";
import { memory } from "@bridge/transport-memory";
import { setTimeout as delay } from "node:timers/promises";
import type { TransportPlugin } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test } from "vitest";
import { type Companion, type Overrule, serveBridge, serverKeys, storeOrigin } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const KEY = "a-key-for-the-host-tests";
const DOCUMENT = {
  bridge: { id: "of-the-document", shutdown_timeout: "2s" },
  http: { admin_addr: "127.0.0.1:1" },
  receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
  senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  routes: [
    {
      id: "only",
      receiver_id: "in",
      bindings: ["to-out"],
      policy: { on_permanent_failure: "drop", on_expired: "drop" },
    },
  ],
};

/** The servers where tests may have them, whatever the document says. */
const overrule: Overrule = (config) => ({
  config: {
    ...config,
    bridge: { ...config.bridge, id: "overruled" },
    http: {
      adminAddr: "127.0.0.1:0",
      monitorAddr: "127.0.0.1:0",
      adminApiKey: "",
      monitorApiKey: "",
      apiKeys: [],
      corsOrigins: [],
      tlsCertFile: "",
      tlsKeyFile: "",
    },
  },
  warnings: config.http === undefined ? [] : ["http: this process listens where it was told to"],
});

function serve(
  held: MemoryDocument,
  companions: readonly Companion[] = [],
  transport = memory().plugin(),
  keys: MonitorKeys = { adminApiKey: KEY },
) {
  const host = new StandIn();
  const code = serveBridge({
    registry: createRegistry({ transports: [transport] }),
    host: host.process,
    startEmpty: true,
    budgets: "one",
    prepare: () => ({
      origin: storeOrigin(openMemoryConfig(held), {
        env: () => undefined,
        file: () => Promise.reject(new Error("no")),
      }),
      overrule,
      keys: () => serverKeys(keys),
      companions: () => companions,
    }),
  });
  return { host, code };
}

async function logged(host: StandIn, msg: string): Promise<Record<string, unknown>> {
  for (const end = performance.now() + PATIENCE.timeout; performance.now() < end; await delay(5)) {
    const line = host.log.find((each) => each["msg"] === msg);
    if (line !== undefined) return line;
  }
  throw new Error(`"${msg}" was not logged: ${host.stderr.text}`);
}

test("a monitor key that is the admin key is warned of", async () => {
  const held = new MemoryDocument(DOCUMENT);
  const { host, code } = serve(held, [], memory().plugin(), { adminApiKey: KEY, monitorApiKey: KEY });
  await logged(host, "bridge started");
  const warnings = host.log.filter(({ level }) => level === "warn").map(({ msg }) => msg);
  expect(warnings).toContainEqual(expect.stringContaining("the monitor key is an admin key"));
  host.emit("SIGTERM");
  await code;
});

function companion(stop: Companion["stop"]): Companion & { readonly did: string[] } {
  const did: string[] = [];
  const stopped: Companion["stop"] = (signal) => {
    did.push("stopped");
    return stop(signal);
  };
  return { name: "the companion", did, start: () => void did.push("started"), stop: stopped };
}

describe("a process that brings its own parts", () => {
  test("overrules its configuration, at the start, at a change and at a commit", async () => {
    const held = new MemoryDocument(DOCUMENT);
    const { host, code } = serve(held);
    expect(await logged(host, "bridge started")).toMatchObject({
      instance_id: expect.stringMatching(/^overruled-/) as string,
    });
    expect(await logged(host, "configuration warning")).toMatchObject({
      warning: "http: this process listens where it was told to",
    });
    held.replace({ ...DOCUMENT, config_version: 7, bridge: { id: "another" } });
    expect(await logged(host, "configuration reloaded")).not.toHaveProperty("restart_required");
    const { url } = await logged(host, "admin server listens");
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${String(url)}/api/v1/admin/config${path}`, {
        method,
        headers: { "X-API-Key": KEY, "Content-Type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const { body } = await call("POST", "/transactions");
    const path = `/transactions/${String(body["txn_id"])}`;
    await call("PATCH", path, { bridge: { id: "a-third" }, http: { admin_addr: "127.0.0.1:2" } });
    expect(await call("POST", `${path}/commit`)).toEqual({ status: 200, body: { status: "committed", version: 8 } });
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("stopped");
  });

  test("spec 1.8: starts empty without a configuration, overruled as well, and takes it when it appears", async () => {
    const held = new MemoryDocument();
    const { host, code } = serve(held);
    expect(await logged(host, "bridge started")).toMatchObject({
      routes: 0,
      instance_id: expect.stringMatching(/^overruled-/) as string,
    });
    held.replace(DOCUMENT);
    await logged(host, "configuration reloaded");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("stopped");
  });

  test("is not what it says, in lines that name the store, when it is refused", async () => {
    const { host, code } = serve(new MemoryDocument({ bridge: { id: "x", speed: 1 } }));
    expect(await code).toBe("not_started");
    expect((await logged(host, "configuration refused"))["problem"]).toMatch(/^memory bridge\.speed: /);
  });

  test("logs the first 20 problems of a document that is refused, and how many more there are", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`unknown_${i}`, 1]));
    const { host, code } = serve(new MemoryDocument({ bridge: { id: "x" }, ...unknown }));
    expect(await code).toBe("not_started");
    expect(
      await logged(host, "configuration refused: there are more problems, and -validate lists them"),
    ).toMatchObject({
      more: 130,
    });
    expect(host.log.filter(({ msg }) => msg === "configuration refused")).toHaveLength(20);
  });

  test("starts its companions when its servers listen, and stops them when the bridge has ended", async () => {
    const besides = companion(() => Promise.resolve());
    const { host, code } = serve(new MemoryDocument(DOCUMENT), [besides]);
    await logged(host, "bridge started");
    expect(besides.did).toEqual(["started"]);
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("stopped");
    expect(besides.did).toEqual(["started", "stopped"]);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("it is full")), "the companion: it is full"],
    ["does not end in time", () => new Promise<never>(() => {}), "the companion: still stopping after 2000 ms"],
  ])("spec 3.3: names a companion that %s", async (_, stop, error) => {
    const { host, code } = serve(new MemoryDocument(DOCUMENT), [companion(stop)]);
    await logged(host, "bridge started");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("not_stopped");
    expect((await logged(host, "the bridge did not stop cleanly"))["error"]).toBe(error);
  });
});

describe("a bridge that does not stop", () => {
  test("spec 3.3.5: its companions hand over what they hold all the same", async () => {
    const channels = memory().plugin();
    const { sender } = channels;
    if (sender === undefined) throw new Error("the memory transport has senders");
    const refusing: TransportPlugin = {
      ...channels,
      sender: {
        ...sender,
        create: (options, context) => {
          const part = sender.create(options, context);
          return {
            send: part.send.bind(part),
            [Symbol.asyncDispose]: () => Promise.reject(new Error("cannot close")),
          };
        },
      },
    };
    const besides = companion(() => Promise.resolve());
    const { host, code } = serve(new MemoryDocument(DOCUMENT), [besides], refusing);
    await logged(host, "bridge started");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("not_stopped");
    expect((await logged(host, "the bridge did not stop cleanly"))["error"]).toContain("cannot close");
    expect(besides.did).toEqual(["started", "stopped"]);
  });
});

describe("a process that is asked to end before its parts are there", () => {
  test("does not wait for them", async () => {
    const host = new StandIn();
    const registry = createRegistry({});
    const prepare = (): Promise<never> => new Promise(() => {});
    const code = serveBridge({ registry, host: host.process, startEmpty: true, prepare });
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("stopped");
  });
});

test("operators 7: what an instance that is gone has left on probation is a condition of every other one", async () => {
  const held = new MemoryDocument(DOCUMENT);
  const other = openMemoryConfig(held);
  const stored = await other.load(AbortSignal.timeout(20_000));
  if (stored === undefined) throw new Error("it was given one");
  const until = Date.now() - 61_000;
  const request = { by: "plant-7-b", at: until - 60_000, until, leftBehindBefore: 0 };
  await other.staging?.stage(DOCUMENT, stored, request, AbortSignal.timeout(20_000));
  const { host, code } = serve(held);
  const { url } = await logged(host, "admin server listens");
  const conditions = async (): Promise<unknown> => {
    const headers = { "X-API-Key": KEY };
    const answer = await fetch(`${String(url)}/api/v1/admin/conditions`, { headers });
    return answer.json();
  };
  const left = expect.stringContaining("was on probation at the instance plant-7-b until") as unknown;
  await expect
    .poll(conditions, { timeout: 20_000 })
    .toMatchObject({ conditions: [{ code: "config_probation", what: left, runbook: "reverted-configuration" }] });
  host.emit("SIGTERM");
  await code;
});
