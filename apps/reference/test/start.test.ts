import { once } from "node:events";
import { cpSync, mkdirSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ask, eventually, probe } from "./support/ask.ts";
import { Binary, BINARY } from "./support/binary.ts";
import { INSIDE, webToWeb } from "./support/documents.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

const NO_STACK = /\bat .*\(?.*:\d+:\d+\)?/;

async function takenAddress(): Promise<AsyncDisposable & { readonly address: string }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

async function free(address: string): Promise<boolean> {
  const [host = "", port = ""] = address.split(":");
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(Number(port), host, () => server.close(() => resolve(true)));
  });
}

describe("a start with a configuration", () => {
  test("reaches full, tells so, and ends with 0 when it is asked to", async () => {
    folder.write("bridge.yaml", INSIDE);
    await using bridge = folder.run();
    const monitor = await bridge.url("monitor");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => status === 200,
    );
    expect(await probe(monitor, "ready?level=full")).toEqual({
      status: 200,
      body: { status: "ready", role: "standalone", level: "full", requested: "full" },
    });
    expect(await ask(`${await bridge.url("admin")}/api/v1/admin/bridge`)).toMatchObject({
      status: 200,
      body: { running: true, routes: 1 },
    });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
    expect(bridge.stdout).toBe("");
  });

  test("works as one file, from a folder where nothing else is", async () => {
    using elsewhere = new Folder();
    const file = join(elsewhere.path, "bridge.mjs");
    cpSync(BINARY.replace("main.js", "main-program.js"), file);
    elsewhere.write("bridge.yaml", INSIDE);
    await using bridge = new Binary([], { cwd: elsewhere.path, file });
    await bridge.logged("bridge started");
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });
});

describe("spec 3.4: a failed start is 1", () => {
  test.each(["true", "false"])("a file that is invalid, with -start-empty=%s", async (startEmpty) => {
    folder.write("invalid.yaml", `${HTTP}bridge: {id: "?"}\nroutes: [{id: r, bindings: []}]\nnonsense: 1\n`);
    await using bridge = folder.run(["-config", "invalid.yaml", `-start-empty=${startEmpty}`]);
    expect(await bridge.ended).toBe(1);
    const problems = bridge.log.map((line) => String(line["problem"]));
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^invalid\.yaml:2:\d+ bridge\.id: /),
        expect.stringMatching(/^invalid\.yaml:3:\d+ routes\[0\]/),
        expect.stringMatching(/^invalid\.yaml:4:\d+ nonsense: /),
      ]),
    );
    expect(bridge.stderr).not.toMatch(NO_STACK);
  });

  test("a missing file, with -start-empty=false", async () => {
    await using bridge = folder.run(["-config", "missing.yaml", "-start-empty=false"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.log).toHaveLength(1);
    expect(bridge.log[0]).toMatchObject({ level: "error", file: "missing.yaml" });
  });

  test("an http block without an admin key", async () => {
    folder.write("keyless.yaml", 'bridge: {id: test}\nhttp: {monitor_addr: "127.0.0.1:0"}\n');
    await using bridge = folder.run(["-config", "keyless.yaml"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.log.at(-1)?.["error"]).toContain("BRIDGE_ADMIN_API_KEY");
  });

  test.each(["BRIDGE_ADMIN_API_KEY", "BRIDGE_MONITOR_API_KEY"])("spec 5.4: a short key in %s", async (name) => {
    folder.write("short.yaml", 'bridge: {id: test}\nhttp: {admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0"}\n');
    await using bridge = folder.run(["-config", "short.yaml"], {
      BRIDGE_ADMIN_API_KEY: ADMIN_KEY,
      [name]: "fifteen-letters",
    });
    expect(await bridge.ended).toBe(1);
    expect(bridge.log.at(-1)?.["error"]).toContain(name);
    expect(bridge.stderr).not.toContain("fifteen-letters");
  });

  test("finding 9.2: all addresses that are taken are named at once", async () => {
    await using admin = await takenAddress();
    await using monitor = await takenAddress();
    const http = `http: {admin_addr: "${admin.address}", monitor_addr: "${monitor.address}", admin_api_key: ${ADMIN_KEY}}`;
    await using bridge = folder.run(["-config", folder.write("taken.yaml", `bridge: {id: taken}\n${http}\n`)]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toContain("http.monitor_addr");
    expect(bridge.stderr).toContain("http.admin_addr");
  });

  test("spec 5.4: a short key in the configuration", async () => {
    folder.write("short.yaml", `${HTTP.replace(ADMIN_KEY, "fifteen-letters")}bridge: {id: test}\n`);
    await using bridge = folder.run(["-config", "short.yaml"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.stderr).toContain("http.admin_api_key");
    expect(bridge.stderr).not.toContain("fifteen-letters");
  });

  test.each(["admin_addr", "monitor_addr"])(
    "a port of http.%s that is taken; the other one is let go",
    async (field) => {
      await using taken = await takenAddress();
      folder.write("clash.yaml", INSIDE.replace(`${field}: "127.0.0.1:0"`, `${field}: "${taken.address}"`));
      await using bridge = folder.run(["-config", "clash.yaml"]);
      expect(await bridge.ended).toBe(1);
      const last = bridge.log.findLast((line) => line.level === "error");
      expect(last?.["error"]).toContain(`http.${field}`);
      expect(last?.["error"]).toContain(taken.address);
      expect(bridge.stderr).not.toMatch(NO_STACK);
    },
  );

  test("certificate files that are not there", async () => {
    folder.write("tls.yaml", INSIDE.replace("http: {", "http: {tls_cert_file: no.crt, tls_key_file: no.key, "));
    await using bridge = folder.run(["-config", "tls.yaml"]);
    expect(await bridge.ended).toBe(1);
    expect(bridge.log.find((line) => line.level === "error")?.["error"]).toMatch(
      /http\.monitor_addr.*no\.crt cannot be read/,
    );
  });

  test("a route whose listener cannot be opened: no runtime, and nothing stays open", async () => {
    await using taken = await takenAddress();
    folder.write("receiver.yaml", webToWeb("http://127.0.0.1:1", { addr: taken.address }));
    await using bridge = folder.run(["-config", "receiver.yaml"]);
    expect(await bridge.ended).toBe(1);
    const monitor = new URL(String(bridge.log.find((line) => line.msg === "monitor server listens")?.["url"]));
    expect(await free(monitor.host)).toBe(true);
    expect(bridge.log.findLast((line) => line.level === "error")?.["error"]).toContain(taken.address);
  });
});

describe("spec 1.8: a start without a file", () => {
  /**
   * The only tests in which a bridge listens on its usual ports, which somebody else on this machine may have: then it
   * has to refuse the start, naming the port. Resolves to whether it runs.
   */
  async function runs(bridge: Binary): Promise<boolean> {
    const started = bridge.logged("bridge started");
    started.catch(() => {});
    if ((await Promise.race([bridge.ended, started])) !== 1) return true;
    expect(bridge.log.find((line) => line.level === "error")?.["error"]).toMatch(
      /http\.(monitor_addr.*:8081|admin_addr.*:8080).*EADDRINUSE/,
    );
    return false;
  }

  test("is empty: alive and healthy, never ready, and without an admin server", async () => {
    await using bridge = folder.run(["-config", "not-there/bridge.yaml"]);
    if (!(await runs(bridge))) return;
    const monitor = await bridge.url("monitor");
    expect(new URL(monitor).port).toBe("8081");
    expect(await probe(monitor, "live")).toEqual({ status: 200, body: { status: "alive" } });
    expect(await probe(monitor, "health")).toEqual({ status: 200, body: { status: "ok" } });
    expect(await probe(monitor, "ready")).toEqual({ status: 503, body: { error: "not ready" } });
    expect(await probe(monitor, "ready?level=running")).toMatchObject({ status: 200, body: { level: "running" } });
    expect(bridge.stderr).toContain("no admin server");
    expect(bridge.log.some((line) => line.msg === "admin server listens")).toBe(false);
    bridge.kill("SIGINT");
    expect(await bridge.ended).toBe(0);
  });

  test("takes a file when it appears, also in a folder that is not there yet", async () => {
    await using bridge = folder.run(["-config", "later/bridge.yaml"], { BRIDGE_ADMIN_API_KEY: ADMIN_KEY });
    if (!(await runs(bridge))) return;
    const monitor = await bridge.url("monitor");
    mkdirSync(join(folder.path, "later"));
    folder.write("later/bridge.yaml", INSIDE);
    const { body } = await eventually(
      () => ask(`${monitor}/api/v1/monitor/deephealth`),
      ({ status }) => status === 200,
    );
    // Its http block is for the next start.
    expect(body).toMatchObject({
      level: "full",
      config_watch: { source: "later/bridge.yaml", restart_required: expect.stringMatching(/^http/) as string },
    });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test("has an admin server when the environment has a key", async () => {
    await using bridge = folder.run(["-config", "not-there/bridge.yaml"], { BRIDGE_ADMIN_API_KEY: ADMIN_KEY });
    if (!(await runs(bridge))) return;
    const admin = await bridge.url("admin");
    expect(new URL(admin).port).toBe("8080");
    expect(await ask(`${admin}/api/v1/admin/bridge`)).toMatchObject({
      status: 200,
      body: { running: true, routes: 0 },
    });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });
});
