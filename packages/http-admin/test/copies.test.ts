import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Each package with copies of its own of all that it imports. */
const PROGRAM = `
  const { defineBridge, OperationError } = await import("@bridge/core?engine");
  const { ConfigError } = await import("@bridge/config?config");
  const { memory } = await import("@bridge/transport-memory?transport");
  const { memoryDlq } = await import("@bridge/dlq-memory?store");
  const { createAdminApp } = await import("@bridge/http-admin?admin");
  const { createAuditor } = await import("@bridge/audit?audit");
  const { BridgeError, silentLogger: logger, systemClock: clock } = await import("@bridge/ports?words");

  const inside = memory();
  const route = { from: inside.channel("in"), to: inside.at("out") };
  const shop = defineBridge({ id: "x", stores: { dlq: memoryDlq({ acknowledge_volatile: true }) }, routes: { r: route } });
  const bridge = await shop.start();
  const app = createAdminApp({
    supervisor: () => bridge,
    auditor: createAuditor({ clock, logger, sinks: [] }),
    keys: { adminApiKey: "0123456789abcdef" },
  });
  const answers = {};
  const call = async (name, path, body) => {
    const headers = { "X-API-Key": "0123456789abcdef" };
    const answer = await app.request("/api/v1/admin" + path, { method: "POST", headers, body: JSON.stringify(body) });
    answers[name] = answer.status;
  };
  const message = { subject: "s", payload: "aGk=" };
  await call("delivered", "/routes/r/inject", message);
  await call("no such route", "/routes/none/inject", message);
  inside.hub.channel("out").sends.failNext(1, new BridgeError("REJECTED", "no"));
  await call("rejected", "/routes/r/inject", message);
  await call("redrive", "/dlq/redrive", { ids: ["none"] });
  await bridge.stop();
  await call("stopped", "/routes/r/inject", message);
  await bridge.shutdown();
  await call("shut down", "/bridge/start");

  const { OperationError: Other, defineBridge: otherDefine } = await import("@bridge/core?another");
  const thrown = await bridge.inject("r", { payload: "x" }).catch((error) => error);
  answers["errors are known"] = thrown instanceof Other && thrown instanceof OperationError && !(thrown instanceof ConfigError);
  try { otherDefine({ id: "x", routes: { r: {} } }); } catch (error) { answers["problems are known"] = error instanceof ConfigError; }
  console.log(JSON.stringify(answers));`;

test("copies of the packages in one process work together, and know each other's errors", async () => {
  const hooks = import.meta.resolve("@bridge/tooling/copies");
  const program = ["--conditions=@bridge/source", "--import", hooks, "--input-type=module", "--eval", PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, program, {
    cwd: import.meta.dirname,
    timeout: 60_000,
  });
  expect(JSON.parse(stdout)).toEqual({
    delivered: 200,
    "no such route": 404,
    rejected: 422,
    redrive: 207,
    stopped: 503,
    "shut down": 409,
    "errors are known": true,
    "problems are known": true,
  });
}, 90_000);
