import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Plugins } from "@bridge/config";
import type { Hook, StateChange } from "@bridge/core";
import type { TransportPlugin } from "@bridge/ports";
import { freePort } from "@bridge/tooling/listening";
import { PATIENCE } from "@bridge/tooling/patience";
import { memory } from "@bridge/transport-memory";
import { afterAll, describe, expect, test } from "vitest";
import { type BridgeApp, runBridge } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const KEY = "a-key-for-the-host-tests";
const folder = mkdtempSync(join(tmpdir(), "bridge-host-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A route of the memory transport, whose sender may be one that does not close. */
const document = (bridge: string, adminAddr: string): string => `
bridge: {id: test, ${bridge}}
http: {admin_addr: "${adminAddr}", monitor_addr: "127.0.0.1:0", admin_api_key: ${KEY}}
receivers: [{id: in, transport: memory, options: {channel: in}}]
senders: [{id: out, transport: memory, options: {channel: out}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`;

/** The memory transport, but for what becomes of closing a sender. */
function closing(dispose: () => Promise<void>): Plugins {
  const channels = memory().plugin();
  const { sender } = channels;
  if (sender === undefined) throw new Error("the memory transport has senders");
  const stuck: TransportPlugin = {
    ...channels,
    sender: {
      ...sender,
      create(options, context) {
        const part = sender.create(options, context);
        return { send: part.send.bind(part), [Symbol.asyncDispose]: dispose };
      },
    },
  };
  return { transports: [stuck] };
}

const sound: Plugins = { transports: [memory()] };
const refusing = closing(() => Promise.reject(new Error("cannot close")));

let files = 0;
function run(plugins: Plugins, bridge = "log_level: info", adminAddr = "127.0.0.1:0", app: Partial<BridgeApp> = {}) {
  const file = join(folder, `${files++}.yaml`);
  writeFileSync(file, document(bridge, adminAddr));
  const host = new StandIn({ args: ["-config", file] });
  const code = runBridge({ program: { name: "bridge", version: "1.2.3" }, plugins, ...app }, host.process);
  return { host, code };
}

async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const deadline = performance.now() + PATIENCE.timeout; performance.now() < deadline; await delay(5)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error("it did not happen in time");
}

function logged(host: StandIn, msg: string): Promise<Record<string, unknown>> {
  return eventually(() => host.log.find((each) => each["msg"] === msg));
}

async function call(host: StandIn, server: "admin" | "monitor", path: string, method = "GET") {
  const { url } = await logged(host, `${server} server listens`);
  const response = await fetch(`${String(url)}/api/v1/${server}/${path}`, { method, headers: { "X-API-Key": KEY } });
  return { status: response.status, body: await response.json() };
}

describe("a process", () => {
  test("carries its bridge until it is asked to end, and leaves nothing behind", async () => {
    const { host, code } = run(sound);
    expect(await logged(host, "bridge started")).toMatchObject({
      routes: 1,
      instance_id: expect.stringMatching(/^test-/) as string,
    });
    expect(await call(host, "monitor", "ready")).toMatchObject({ status: 200 });
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe(0);
    expect(host.exits).toEqual([]);
    expect(host.eventNames()).toEqual([]);
    expect(host.stderr.eventNames()).toEqual([]);
  });

  test("tells the hooks of its program what becomes of the bridge", async () => {
    const states: string[] = [];
    const onState: Hook<StateChange> = ({ to }) => void states.push(to);
    const { host, code } = run(sound, undefined, undefined, { hooks: { onState } });
    await logged(host, "bridge started");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe(0);
    expect(states).toEqual(["starting", "running", "shutting_down"]);
  });

  test("hooks that are none keep it from starting, and the log says which", async () => {
    const { host, code } = run(sound, undefined, undefined, { hooks: { onStat: () => {} } as never });
    expect(await code).toBe(1);
    expect(host.stderr.text).toContain("hooks.onStat");
  });

  test("logs audit events even when its log is for errors only", async () => {
    const port = await freePort();
    const { host, code } = run(sound, "log_level: error", `127.0.0.1:${port}`);
    const asked = await eventually(() => fetch(`http://127.0.0.1:${port}/api/v1/admin/bridge`).catch(() => undefined));
    expect(asked.status).toBe(401);
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe(0);
    expect(host.log).toEqual([expect.objectContaining({ msg: "audit", action: "auth.failure" })]);
  });

  test("spec 3.4: plugins that clash: 1, in one sentence", async () => {
    const { host, code } = run({ transports: [memory(), memory().plugin()] });
    expect(await code).toBe(1);
    expect(host.stderr.text).toBe('bridge: two transport plugins have the type "memory": register one\n');
  });
});

describe("a bridge that does not stop", () => {
  test("contract 7: a stop error at shutdown: 1, naming the phase", async () => {
    const { host, code } = run(refusing);
    await logged(host, "bridge started");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe(1);
    expect((await logged(host, "the bridge did not stop cleanly"))["error"]).toMatch(/sender out.*cannot close/);
  });

  test.each([
    { budgets: "two", error: "still stopping after another 50 ms" },
    { budgets: "one", error: "still stopping after 50 ms" },
  ] as const)("spec 3.3: with shutdown_timeout spent $budgets times, what still runs is abandoned: 1", async (row) => {
    const never = Promise.withResolvers<void>();
    const { host, code } = run(
      closing(() => never.promise),
      "shutdown_timeout: 50ms",
      "127.0.0.1:0",
      { shutdownBudgets: row.budgets },
    );
    await logged(host, "bridge started");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe(1);
    expect((await logged(host, "the bridge did not stop cleanly"))["error"]).toBe(row.error);
    never.resolve();
  });

  test("spec 3.1: wedged, it tells /live, lingers and ends with 1", async () => {
    const { host, code } = run(refusing, "terminal_linger: 1h");
    await logged(host, "bridge started");
    expect(await call(host, "monitor", "live")).toEqual({ status: 200, body: { status: "alive" } });
    expect(await call(host, "admin", "bridge/stop", "POST")).toMatchObject({ status: 500 });
    expect(await call(host, "admin", "bridge/start", "POST")).toMatchObject({ status: 409 });
    expect(await call(host, "monitor", "live")).toEqual({ status: 503, body: { status: "terminal" } });
    host.emit("SIGTERM", "SIGTERM"); // does not wait for the end of the hour
    expect(await code).toBe(1);
    expect(host.log.find((line) => line["cause"] === "wedged")).toMatchObject({ level: "error" });
    expect(host.eventNames()).toEqual([]);
  });
});
