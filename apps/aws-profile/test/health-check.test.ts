import { once } from "node:events";
import { copyFileSync, mkdirSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { HostProcess } from "@bridge/host";
import { BinaryProcess } from "@bridge/tooling/binary-process";
import { certificates } from "@bridge/tooling/certificates";
import { freePort } from "@bridge/tooling/listening";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { healthCheck } from "../src/health-check.ts";
import { BINARY, INSIDE, Site } from "./support/site.ts";

let site: Site;
beforeAll(async () => {
  site = await Site.open();
  site.write("bridge.yaml", INSIDE);
});
afterAll(() => site[Symbol.asyncDispose]());

async function listening(server: Server = createServer()): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Loaded before the program: once the file beside it is there, no port can be listened on. */
const PORTS_TAKEN_WHEN_TOLD = `
import { existsSync } from "node:fs";
import { Server } from "node:net";
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  if (!existsSync(new URL("ports-are-taken", import.meta.url))) return listen.apply(this, args);
  const error = Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE" });
  process.nextTick(() => this.emit("error", error));
  return this;
};
`;

async function probed(bootstrap: Readonly<Record<string, unknown>>) {
  await using probe = site.run(bootstrap, ["-healthcheck"]);
  const code = await probe.ended;
  expect(probe.stdout).toBe("");
  return { code, stderr: probe.stderr };
}

describe("spec 3.4: -healthcheck", () => {
  test("1 before there is a process and while it starts, 0 while it runs, 1 when it is gone", async () => {
    const bootstrap = site.bootstrap({ monitor_addr: `:${await freePort()}` });
    expect(await probed(bootstrap)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ECONNREFUSED") as string,
    });
    site.secrets.outage = { kind: "silence" };
    await using instance = site.run(bootstrap);
    expect((await probed(bootstrap)).code).toBe(1);
    site.secrets.outage = undefined;
    await instance.logged("bridge started");
    expect(await probed(bootstrap)).toEqual({ code: 0, stderr: "" });
    instance.kill("SIGTERM");
    await instance.ended;
    expect((await probed(bootstrap)).code).toBe(1);
  });

  test("asks by TLS where the servers do, whoever signed the certificate", async () => {
    using made = certificates("server");
    const tls = { tls_cert_file: made.path("server.crt"), tls_key_file: made.path("server.key") };
    const bootstrap = site.bootstrap({ monitor_addr: `127.0.0.1:${await freePort()}`, ...tls });
    await using instance = site.run(bootstrap);
    await instance.logged("bridge started");
    expect(await instance.url("monitor")).toMatch(/^https:/);
    expect(await probed(bootstrap)).toEqual({ code: 0, stderr: "" });
  });

  test("1 when the bridge is beyond recovery, while it tells so", async () => {
    const document = (port: number): string =>
      [
        "bridge: {id: test, terminal_linger: 1h}",
        `receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:${port}"}}]`,
        "senders: [{id: out, transport: memory, options: {channel: out}}]",
        "bindings: [{id: to-out, sender_id: out}]",
        "routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]",
      ].join("\n");
    const path = site.write("terminal.yaml", document(await freePort()));
    const preload = site.write("taken-ports.mjs", PORTS_TAKEN_WHEN_TOLD);
    const bootstrap = site.bootstrap({ config_file_path: path, monitor_addr: `127.0.0.1:${await freePort()}` });
    await using instance = site.run(bootstrap, [], { NODE_OPTIONS: `--import=${preload}` });
    await instance.logged("bridge started");
    // Neither the new configuration nor the former one can be started: somebody has both ports.
    site.write("ports-are-taken", "");
    site.write("terminal.yaml", document(await freePort()));
    await instance.logged("the bridge is beyond recovery: a new process has to take over");
    expect(await probed(bootstrap)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/answers 503\n$/) as string,
    });
    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(1);
  });

  test("1 within 4 s when something listens that says nothing", async () => {
    const silent = createServer();
    const port = await listening(silent);
    const began = performance.now();
    expect((await probed(site.bootstrap({ monitor_addr: `127.0.0.1:${port}` }))).code).toBe(1);
    // The start of a process on a busy machine included.
    expect(performance.now() - began).toBeLessThan(20_000);
    silent.close();
  });

  test("is a program of its own, without the bridge that it asks", async () => {
    const bootstrap = site.bootstrap({ monitor_addr: `127.0.0.1:${await freePort()}` });
    await using instance = site.run(bootstrap);
    await instance.logged("bridge started");
    const folder = join(site.path, "alone");
    mkdirSync(folder);
    site.write("alone/package.json", '{"type":"module"}');
    for (const file of ["main.js", "healthcheck.js"]) copyFileSync(join(dirname(BINARY), file), join(folder, file));
    const env = { ...site.env, BRIDGE_BOOTSTRAP_JSON: JSON.stringify(bootstrap) };
    await using probe = new BinaryProcess(join(folder, "main.js"), ["-healthcheck"], { cwd: folder, env });
    expect([await probe.ended, probe.stderr]).toEqual([0, ""]);
    expect(statSync(join(folder, "healthcheck.js")).size).toBeLessThan(200_000);
  });

  test("1 when the 4 s since the start of its process are over before it can ask", async () => {
    const written: string[] = [];
    const env = { BRIDGE_BOOTSTRAP_JSON: JSON.stringify(site.bootstrap({ monitor_addr: "127.0.0.1:1" })) };
    const host = { env, stderr: { write: (text: string) => written.push(text) } } as unknown as HostProcess;
    expect(await healthCheck(host, 4_000)).toBe("not_alive");
    expect(written.join("")).toContain("ready to ask only 4000 ms after its start");
    // The process has to end within them, too.
    expect(await healthCheck(host, 3_700)).toBe("not_alive");
    expect(written.at(-1)).toContain("ready to ask only 3700 ms after its start");
    expect(await healthCheck(host, 10)).toBe("not_alive");
    expect(written.at(-1)).toContain("ECONNREFUSED");
  });

  test("1, with a word, when the monitor server has any free port", async () => {
    const stderr = "monitor_addr is 127.0.0.1:0, any free port, which a probe cannot know: give it a port\n";
    expect(await probed(site.bootstrap({ monitor_addr: "127.0.0.1:0" }))).toEqual({ code: 1, stderr });
  });

  test("1 when the bootstrap document is not usable", async () => {
    expect(await probed({})).toMatchObject({ code: 1, stderr: expect.stringContaining("bridge_id") as string });
  });
});
