import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { afterAll, describe, expect, test } from "vitest";
import { ask } from "./support/ask.ts";
import { Folder, HTTP } from "./support/folder.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const KEY = "a-key-of-the-collector";

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

/** A route whose target is away, so that one message is one dead letter. */
const document = (endpoint: string): string => `
bridge: {id: test, instance_id: test-a, shutdown_timeout: 1s, drain_timeout: 500ms}
${HTTP}
telemetry: {otlp: {endpoint: "${endpoint}", headers: {x-api-key: "\${env:OTLP_KEY}"}, traces: {sample_ratio: 0}}}
stores: {dlq: {type: memory, options: {acknowledge_volatile: true}}}
receivers: [{id: in, transport: memory, options: {channel: in}}]
senders: [{id: out, transport: http, options: {url: "http://127.0.0.1:1"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {max_replay_attempts: 1}}]
`;

async function inject(admin: string): Promise<void> {
  const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
  const { status } = await ask(`${admin}/api/v1/admin/routes/only/inject`, {
    method: "POST",
    body: JSON.stringify({ subject: "s", payload: "", headers }),
  });
  expect(status).toBe(422);
}

describe("a collector of OpenTelemetry", () => {
  test("is given the trace of a message, its metrics, and the log says the same trace id", async () => {
    await using collector = await OtlpCollector.open();
    folder.write("traced.yaml", document(collector.url));
    await using bridge = folder.run(["-config", "traced.yaml"], { OTLP_KEY: KEY });
    await bridge.logged("bridge started");
    await inject(await bridge.url("admin"));
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(0);
    const delivery = collector.spans.find(({ name }) => name === "process only");
    expect(delivery).toMatchObject({
      traceId: TRACE,
      parentSpanId: "b7ad6b7169203331",
      attributes: { "bridge.origin": "injected", "bridge.outcome": "dead_lettered", "error.type": "CONNECTION_LOST" },
      resource: { "service.name": "test", "service.instance.id": "test-a" },
    });
    const line = bridge.log.find(({ msg }) => msg === "message dead-lettered");
    expect(line).toMatchObject({ trace_id: TRACE, span_id: delivery?.spanId });
    expect(collector.metric("DLQRedriveFailures")).toBeDefined();
    expect(collector.requests.every(({ headers }) => headers["x-api-key"] === KEY)).toBe(true);
    expect(bridge.stdout + bridge.stderr).not.toContain(KEY);
  });

  test("spec 3.3, 3.4: that hangs is named, and the process ends in time, with code 1", async () => {
    await using collector = await OtlpCollector.open();
    collector.mood = "hangs";
    folder.write("hangs.yaml", document(collector.url));
    await using bridge = folder.run(["-config", "hangs.yaml"], { OTLP_KEY: KEY });
    await bridge.logged("bridge started");
    await inject(await bridge.url("admin"));
    bridge.kill("SIGTERM");
    expect(await bridge.ended).toBe(1);
    expect(bridge.log.find(({ msg }) => msg === "the bridge did not stop cleanly")).toMatchObject({
      error: expect.stringMatching(/OTLP traces flush: .*; OTLP metrics flush: /) as string,
    });
  });
});
