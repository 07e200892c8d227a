import { afterAll, describe, expect, test } from "vitest";
import { ask, eventually, probe, type Told } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { INSIDE, webToWeb } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";
import { WebService } from "./support/web-service.ts";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

let documents = 0;
function start(document: string): Binary {
  const name = `bridge-${documents++}.yaml`;
  folder.write(name, document);
  return folder.run(["-config", name]);
}

/** Hands a message to the bridge's own listener. */
async function post(bridge: Binary): Promise<Told> {
  const { port } = await bridge.logged("HTTP receiver listens");
  await bridge.logged("bridge started");
  return ask(`http://127.0.0.1:${String(port)}/ingest/in`, { method: "POST", body: "hello" });
}

describe("spec 3.3: shutdown", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s with nothing to do: 0", async (signal) => {
    await using bridge = start(INSIDE);
    await bridge.logged("bridge started");
    bridge.kill(signal);
    expect(await bridge.ended).toBe(0);
    expect(bridge.log.filter((line) => line.level === "error")).toEqual([]);
  });

  test("spec 3.3.2, 3.3.3: readiness fails first, what is in flight settles, and then it ends with 0", async () => {
    await using target = await WebService.open();
    await using bridge = start(webToWeb(target.url));
    const posted = post(bridge);
    await Promise.race([target.called, posted]);
    const monitor = await bridge.url("monitor");
    expect(await probe(monitor, "ready")).toMatchObject({ status: 200 });

    bridge.kill("SIGTERM");
    await eventually(
      () => probe(monitor, "ready"),
      ({ status }) => status === 503,
    );
    expect(await probe(monitor, "ready?level=live")).toMatchObject({ status: 200, body: { level: "live" } });
    expect(await probe(monitor, "live")).toEqual({ status: 200, body: { status: "alive" } });
    expect(await probe(monitor, "health")).toEqual({ status: 503, body: { status: "not_running" } });

    target.answer(200);
    expect(await posted).toMatchObject({ status: 202, body: { outcome: "delivered" } });
    expect(await bridge.ended).toBe(0);
  });

  test("spec 3.3.3: what does not settle within the budget is left to its source, and is no failure", async () => {
    await using target = await WebService.open();
    await using bridge = start(webToWeb(target.url, { bridge: ", quiesce_timeout: 50ms" }));
    const posted = post(bridge);
    await Promise.race([target.called, posted]);
    bridge.kill("SIGTERM");
    expect((await posted).status).toBe(503);
    expect(await bridge.ended).toBe(0);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("spec 3.1: a second signal (%s) ends it at once: 2", async (second) => {
    await using target = await WebService.open();
    await using bridge = start(webToWeb(target.url));
    const posted = post(bridge);
    posted.catch(() => {});
    await Promise.race([target.called, posted]);
    bridge.kill("SIGTERM");
    await bridge.logged("shutting down");
    bridge.kill(second);
    expect(await bridge.ended).toBe(2);
  });

  test("a signal while it starts: 0", async () => {
    await using bridge = start(INSIDE);
    await bridge.url("monitor");
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test("SIGHUP does not end it", async () => {
    await using bridge = start(INSIDE);
    await bridge.logged("bridge started");
    bridge.kill("SIGHUP");
    await bridge.logged("configuration reloaded");
    expect(await probe(await bridge.url("monitor"), "health")).toMatchObject({ status: 200 });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });

  test("spec 3.1: stopped by an operator it stays alive, and a signal then ends it with 0", async () => {
    await using bridge = start(INSIDE);
    const [admin, monitor] = [await bridge.url("admin"), await bridge.url("monitor")];
    await bridge.logged("bridge started");
    expect(await ask(`${admin}/api/v1/admin/bridge/stop`, { method: "POST" })).toEqual({
      status: 200,
      body: { status: "stopped" },
    });
    expect(await probe(monitor, "live")).toMatchObject({ status: 200 });
    expect(await probe(monitor, "health")).toEqual({ status: 503, body: { status: "not_running" } });
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
  });
});
