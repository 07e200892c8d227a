import { execFile } from "node:child_process";
import process from "node:process";
import { freePort } from "@bridge/tooling/listening";
import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { EXAMPLES, Program } from "./support/program.ts";

/** Runs a program of `embedding/` to its end; returns the lines that it prints. */
async function run(name: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const args = ["--conditions=@bridge/source", `${EXAMPLES}embedding/${name}.ts`];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
}

describe("embedding", () => {
  test("embed.ts carries a message and ends by itself", async () => {
    expect(await run("embed")).toEqual(["m1: hello"]);
  });

  test("logged.ts has each line of the bridge, with what its program adds", async () => {
    const lines = (await run("logged")).map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const states = lines.flatMap(({ level, message, service, to }) =>
      message === "bridge state" ? [[level, service, to]] : [],
    );
    expect(states).toEqual(["starting", "running", "shutting_down"].map((to) => ["info", "shop", to]));
  });

  test("functions.ts hands messages from code to code, and tells what became of each", async () => {
    expect(await run("functions")).toEqual([
      "attempt 1: sold 3 apples",
      "apples delivered, pears dead_lettered, figs dead_lettered",
      "orders: REJECTED, nothing to sell",
      "orders: INVALID_PAYLOAD, the payload does not fit the handler's schema at count",
    ]);
  });

  test("custom-processor.ts passes one message, filters one, and one becomes a dead letter", async () => {
    const [passed, deadLetter, toOut, before] = await run("custom-processor");
    expect(passed).toBe("passed: 1");
    expect(deadLetter).toBe("dead letter: INVALID_PAYLOAD, processor hot: the payload is not JSON");
    expect(toOut).toContain('"delivered":1');
    expect(before).toContain('"dead_lettered":1,"dropped":0,"filtered":1');
  });

  test("traced.ts hands a collector a trace and its metrics, and the target the context", async () => {
    await using collector = await OtlpCollector.open();
    const [traceparent] = await run("traced", { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const send = collector.spans.find(({ name }) => name === "send to-out");
    expect(traceparent).toBe(`00-${send?.traceId}-${send?.spanId}-01`);
    expect(send?.resource).toMatchObject({ "service.name": "plant" });
    expect(collector.metric("DLQRedriveFailures")).toBeDefined();
  });

  test("traced.ts without a collector says so in one line, and ends with code 1", async () => {
    const port = await freePort();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    await using traced = new Program("--conditions=@bridge/source", [`${EXAMPLES}embedding/traced.ts`], env);
    expect(await traced.ended).toBe(1);
    expect(traced.stderr).toMatch(/^not handed over: .+; is there a collector at OTEL_EXPORTER_OTLP_ENDPOINT\?\n$/);
  });

  test("sqs-orders.ts carries what FIFO queues hold, in order for each customer", async () => {
    expect(await run("sqs-orders")).toEqual(["ada: apple, pear, fig", "bob: plum"]);
  });

  test("mounted-servers.ts answers on both servers, and audits the call of a named key", async () => {
    expect(await run("mounted-servers")).toEqual([
      '200 {"status":"ok"}',
      "audit: bridge.status alice success",
      "200 true",
      "Bridge monitor server",
      "audit: api.describe alice success",
      "Bridge admin server",
    ]);
  });

  test("own-authentication.ts lets people do what they may, and audits who it was", async () => {
    expect(await run("own-authentication")).toEqual([
      "200 let in",
      "audit: bridge.stop guest@shop.example failure",
      '403 {"error":"\\"guest@shop.example\\" may not do this: it needs bridge.control","reason":"permission","needs":"bridge.control"}',
      "audit: bridge.stop.begin ann@shop.example pending",
      "audit: bridge.stop ann@shop.example success",
      "200 let in",
      "audit: auth.failure unknown failure",
      '401 {"error":"not authenticated"}',
    ]);
  });

  test("hooks.ts tells of each attempt and of what is kept", async () => {
    const lines = await run("hooks");
    // Each hook has a queue of its own.
    expect(lines.toSorted()).toEqual(
      [
        "the bridge is starting",
        "the bridge is running",
        "orders: attempt 1 of m1: RangeError, no such price",
        "orders: attempt 2 of m1: RangeError, no such price",
        "still failing after 2 attempts: 3 apples",
        "the bridge is shutting_down",
      ].toSorted(),
    );
  });
});
