import { BridgeError, parseTraceparent, readTraceContext } from "@bridge/ports";
import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { describe, expect, test } from "vitest";
import { bound, SECTION, tracedBridge } from "./support/traced-bridge.ts";

const SAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const NOT_SAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
const CONSUMER = 5;
const PRODUCER = 4;
const ERROR = 2;

const traces = (ratio: number | undefined, maxQueue?: number) => ({
  metrics: { ...SECTION.metrics, enabled: false },
  traces: { enabled: true, sampleRatio: ratio, maxQueue },
});

describe.each(["direct_hold", "shared_outbox"])("a delivery of %s", (mode) => {
  test("is one span from its beginning to its settlement, with one below it for the send", async () => {
    await using collector = await OtlpCollector.open();
    const section = { endpoint: `${collector.url}/`, ...traces(1) };
    await using bridge = await tracedBridge(section, { route: { delivery_mode: mode } });
    const headers = { traceparent: SAMPLED, tracestate: "vendor=1" };
    bridge.hub.publish("in", { id: "m1", subject: "plant/7", payload: "hello", correlationId: "c1", headers });
    await bridge.hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await bridge.end();

    expect(collector.requests.map(({ url }) => url)).toEqual(["/v1/traces"]);
    const [delivery, send] = collector.spans.toSorted((a, b) => b.kind - a.kind);
    expect(collector.spans).toHaveLength(2);
    expect(delivery).toMatchObject({
      name: "process r",
      kind: CONSUMER,
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
      traceState: "vendor=1",
      links: [],
      status: { code: 0 },
      resource: { "service.name": "plant", "service.instance.id": "plant-a", "service.version": "1.2.3" },
    });
    expect(delivery?.attributes).toEqual({
      "messaging.system": "memory",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.destination.name": "plant/7",
      "messaging.message.id": "m1",
      "messaging.message.conversation_id": "c1",
      "messaging.message.body.size": 5,
      "bridge.route.id": "r",
      "bridge.receiver.id": "in",
      "bridge.origin": "received",
      "bridge.receive_count": 1,
      "bridge.outcome": mode === "direct_hold" ? "delivered" : "persisted",
    });
    expect(send).toMatchObject({
      name: "send to-out",
      kind: PRODUCER,
      traceId: delivery?.traceId,
      parentSpanId: delivery?.spanId,
      attributes: {
        "messaging.operation.type": "send",
        "messaging.destination.template": "out",
        "bridge.binding.id": "to-out",
        "bridge.sender.id": "out",
        "bridge.attempt": 1,
        "bridge.outcome": "accepted",
      },
    });
    expect([delivery?.flags, send?.flags], "finding 6.13: only what came with the message is remote").toEqual([
      0x301, 0x101,
    ]);
    // Each span reads the time of day by itself, to the millisecond.
    const ended = (delivery?.end ?? 0n) + 1_000_000n;
    if (mode === "direct_hold") expect(ended).toBeGreaterThanOrEqual(send?.end ?? 0n);
    const [arrived] = bridge.hub.channel("out").messages();
    expect(readTraceContext(arrived?.headers ?? {})).toEqual({
      traceId: delivery?.traceId,
      spanId: send?.spanId,
      flags: 1,
      state: "vendor=1",
    });
  });

  test("that fails says so, and its redrive is a trace of its own that is linked to it", async () => {
    await using collector = await OtlpCollector.open();
    await using bridge = await tracedBridge(
      { endpoint: collector.url, ...traces(1) },
      { route: { delivery_mode: mode } },
    );
    bridge.hub.channel("out").sends.failNext(1, new BridgeError("REJECTED", "the target refused the message"));
    bridge.hub.publish("in", { id: "m1", headers: { traceparent: SAMPLED } });
    const dlq = bridge.supervisor.dlq() ?? expect.fail("no DLQ");
    await expect.poll(() => dlq.count(10, bound())).toBe(1);
    const [head] = await dlq.list({}, { limit: 1, offset: 0 }, bound());
    const result = await bridge.supervisor.redrive([head?.id ?? ""], bound());
    expect(result).toMatchObject({ redriven: 1 });
    await bridge.end();

    const [first, redriven] = collector.spans.filter(({ kind }) => kind === CONSUMER);
    const failed = collector.spans.find(({ attributes }) => attributes["bridge.outcome"] === "failed");
    const status = { code: ERROR, message: "the target refused the message" };
    expect(failed).toMatchObject({ status, attributes: { "error.type": "REJECTED" } });
    if (mode === "direct_hold") {
      expect(first).toMatchObject({
        status,
        attributes: { "bridge.outcome": "dead_lettered", "error.type": "REJECTED" },
      });
    }
    expect(redriven).toMatchObject({
      parentSpanId: "",
      links: [{ traceId: first?.traceId, spanId: first?.spanId }],
      attributes: { "bridge.origin": "redriven" },
    });
    expect(redriven?.traceId).not.toBe(first?.traceId);
    const [arrived] = bridge.hub.channel("out").messages();
    expect(parseTraceparent(arrived?.headers?.["traceparent"] ?? "")?.traceId).toBe(redriven?.traceId);
  });
});

describe("what is sampled", () => {
  test("by a message that is: whatever the ratio; by one that is not: nothing, and its headers stay", async () => {
    await using collector = await OtlpCollector.open();
    await using bridge = await tracedBridge({ endpoint: collector.url, ...traces(0) });
    bridge.hub.publish("in", { id: "m1", headers: { traceparent: SAMPLED } });
    bridge.hub.publish("in", { id: "m2", headers: { traceparent: NOT_SAMPLED, tracestate: "a=1 , b=2" } });
    await bridge.hub.channel("in").waitForSettlements(2, bound());
    await bridge.end();
    expect(collector.spans.map(({ attributes }) => attributes["messaging.message.id"])).toEqual(["m1", "m1"]);
    const second = bridge.hub
      .channel("out")
      .messages()
      .find(({ id }) => id === "m2");
    expect({ ...second?.headers }).toEqual({ traceparent: NOT_SAMPLED, tracestate: "a=1 , b=2" });
  });

  test.each([
    ["no context", {}],
    ["an invalid one", { traceparent: `${SAMPLED}-x`, tracestate: "a=1" }],
  ])("with %s: by the ratio, and whoever comes after is told of the decision", async (_, headers) => {
    await using collector = await OtlpCollector.open();
    const arrived = await Promise.all(
      [0, 1].map(async (ratio) => {
        await using bridge = await tracedBridge({ endpoint: collector.url, ...traces(ratio) });
        bridge.hub.publish("in", { id: `m-${ratio}`, headers });
        await bridge.hub.channel("in").waitForSettlements(1, bound());
        await bridge.end();
        return { ...bridge.hub.channel("out").messages()[0]?.headers };
      }),
    );
    const [unseen, seen] = arrived.map((sent) => parseTraceparent(sent["traceparent"] ?? ""));
    expect([unseen?.flags, seen?.flags]).toEqual([0, 1]);
    expect(arrived.map((sent) => sent["tracestate"])).toEqual([undefined, undefined]);
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([seen?.traceId]));
  });

  test.each([
    ["always_off", SAMPLED, 0],
    ["always_on", NOT_SAMPLED, 2],
    ["parentbased_always_off", SAMPLED, 2],
    ["traceidratio", SAMPLED, 0],
  ])("by OTEL_TRACES_SAMPLER=%s of %s: %i spans", async (sampler, traceparent, spans) => {
    await using collector = await OtlpCollector.open();
    const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: "0" };
    await using bridge = await tracedBridge({ endpoint: collector.url, ...traces(undefined) }, { env });
    bridge.hub.publish("in", { id: "m1", headers: { traceparent } });
    await bridge.hub.channel("in").waitForSettlements(1, bound());
    await bridge.end();
    expect(collector.spans).toHaveLength(spans);
    const sent = parseTraceparent(bridge.hub.channel("out").messages()[0]?.headers?.["traceparent"] ?? "");
    expect(sent).toMatchObject({ traceId: "0af7651916cd43dd8448eb211c80319c", flags: Math.sign(spans) });
  });
});

describe("a collector", () => {
  test("that hangs stops nothing: the queue is bounded, what is beyond is counted, and the flush says that it failed", async () => {
    await using collector = await OtlpCollector.open();
    collector.mood = "hangs";
    const section = { endpoint: collector.url, timeoutMs: 150, ...traces(1, 10) };
    await using bridge = await tracedBridge(section);
    for (let at = 0; at < 100; at++) bridge.hub.publish("in", { id: `m${at}` });
    await bridge.hub.channel("in").waitForSettlements(100, bound());
    expect(bridge.hub.channel("out").arrived).toBe(100);
    await expect(bridge.end()).rejects.toThrow(/./);
    const dropped = bridge.otlp.families().find(({ name }) => name === "bridge_otlp_spans_dropped_total");
    const [full = 0, lost = 0] = [...(dropped?.samples ?? [])].map((sample) => ("value" in sample ? sample.value : 0));
    expect(full).toBeGreaterThan(0);
    expect(full + lost).toBe(200);
  });

  test("that keeps up is given every span, however many there are in the long run", async () => {
    await using collector = await OtlpCollector.open();
    const env = { OTEL_BSP_SCHEDULE_DELAY: "0" };
    await using bridge = await tracedBridge({ endpoint: collector.url, ...traces(1, 4) }, { env });
    for (let at = 1; at <= 10; at++) {
      bridge.hub.publish("in", { id: `m${at}` });
      await collector.until(({ spans }) => spans.length === 2 * at);
    }
    await bridge.end();
    const [, exported, dropped] = bridge.otlp.families();
    expect(exported?.samples).toMatchObject([{ value: 20 }]);
    expect(dropped?.samples).toMatchObject([{ value: 0 }, { value: 0 }]);
  });

  test("that refuses costs the spans it refused, and says so in a metric", async () => {
    await using collector = await OtlpCollector.open();
    collector.mood = 400;
    await using bridge = await tracedBridge({ endpoint: collector.url, ...traces(1) });
    bridge.hub.publish("in", { id: "m1" });
    await bridge.hub.channel("in").waitForSettlements(1, bound());
    await expect(bridge.end()).rejects.toThrow(/Bad Request|collector/);
    expect(bridge.otlp.families()).toMatchObject([
      {
        name: "bridge_otlp_export_failures_total",
        samples: [{ labels: { signal: "traces" }, value: 1 }, { value: 0 }],
      },
      { name: "bridge_otlp_spans_exported_total", samples: [{ value: 0 }] },
      { name: "bridge_otlp_spans_dropped_total", samples: [{ value: 0 }, { value: 2 }] },
    ]);
  });

  test("is given the headers of the configuration, and gzip when it asks for that", async () => {
    await using collector = await OtlpCollector.open();
    const section = { endpoint: collector.url, headers: { "X-Api-Key": "s3cret" }, compression: "gzip" as const };
    await using bridge = await tracedBridge({ ...section, ...traces(1) });
    bridge.hub.publish("in", { id: "m1" });
    await bridge.hub.channel("in").waitForSettlements(1, bound());
    await bridge.end();
    expect(collector.requests[0]?.headers).toMatchObject({
      "x-api-key": "s3cret",
      "content-encoding": "gzip",
      "content-type": "application/x-protobuf",
    });
    expect(collector.spans).toHaveLength(2);
  });
});
