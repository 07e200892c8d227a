import {
  formatTraceparent,
  type LogFields,
  type Logger,
  type Processor,
  readTraceContext,
  silentLogger,
} from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { bound, memoryBridge, type MemoryBridgeOptions, outage, refusal } from "../support/memory-bridge.ts";
import { RecordingTracer } from "../support/recording-tracer.ts";

const INCOMING = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function tracedBridge(options: MemoryBridgeOptions = {}) {
  const tracer = new RecordingTracer();
  const lines: (LogFields & { readonly message: string })[] = [];
  const log = (message: string, fields: LogFields = {}): void => void lines.push({ message, ...fields });
  const logger: Logger = { ...silentLogger, warn: log, error: log, child: () => logger };
  return { ...bridgeOf({ ...options, tracer, logger }), tracer, lines };
}

function bridgeOf(options: MemoryBridgeOptions) {
  const bridge = memoryBridge(options);
  const { hub, clock, supervisor } = bridge;
  const sent = (channel = "out") => hub.channel(channel).messages();
  return { hub, clock, supervisor, sent, dlqOf: () => bridge.dlq };
}

async function firstEntry(dlq: ReturnType<ReturnType<typeof tracedBridge>["dlqOf"]>) {
  const [head] = await dlq.list({}, { limit: 10, offset: 0 }, bound());
  return (await dlq.get(head?.id ?? "", bound())) ?? expect.fail("the DLQ is empty");
}

describe("without a tracer", () => {
  test.each([{ traceparent: INCOMING, tracestate: "a=1" }, { traceparent: "nonsense", tracestate: "," }, {}])(
    "what came goes out untouched: %o",
    async (headers) => {
      const { hub, supervisor, sent } = bridgeOf({});
      await supervisor.start(bound());
      hub.publish("in", { id: "m1", headers });
      await hub.channel("in").waitForSettlements(1, bound());
      expect({ ...sent()[0]?.headers }).toEqual(headers);
      await supervisor.shutdown();
    },
  );
});

describe.each(["direct_hold", "shared_outbox"] as const)("a delivery of %s", (deliveryMode) => {
  test("has one span below what came, and one for its send, which is what the target gets", async () => {
    const { hub, supervisor, tracer, sent } = tracedBridge({ deliveryMode });
    await supervisor.start(bound());
    hub.publish("in", { id: "m1", headers: { Traceparent: INCOMING, tracestate: "a=1" } });
    await hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await hub.channel("in").waitForSettlements(1, bound());
    await supervisor.shutdown();
    const [delivery, ...others] = tracer.of("deliver");
    const [send, ...moreSends] = tracer.of("send");
    expect([...others, ...moreSends]).toEqual([]);
    expect(delivery?.of).toMatchObject({ routeId: "r", receiverId: "in", system: "memory" });
    expect(delivery?.parent).toEqual(readTraceContext({ traceparent: INCOMING, tracestate: "a=1" }));
    const settled = deliveryMode === "direct_hold" ? "delivered" : "persisted";
    expect(delivery?.ends).toEqual([{ outcome: settled, error: undefined }]);
    expect(send?.of).toMatchObject({ bindingId: "out", senderId: "out", address: "out" });
    expect(send?.parent).toEqual(delivery?.context);
    expect(send?.start).toMatchObject({ attempt: 1 });
    expect(send?.ends).toEqual([{ outcome: "accepted", error: undefined }]);
    expect({ ...sent()[0]?.headers }).toEqual({
      traceparent: formatTraceparent(send?.context ?? expect.fail()),
      tracestate: "a=1",
    });
  });

  test("that failed is dead-lettered with its own context, and its redrive begins with that", async () => {
    const { hub, clock, supervisor, tracer, lines, dlqOf } = tracedBridge({ deliveryMode });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1", headers: { traceparent: INCOMING } });
    await hub.channel("in").waitForSettlements(1, bound());
    await clock.until(() => lines.length > 0);
    const [delivery] = tracer.of("deliver");
    const [send] = tracer.of("send");
    const context = delivery?.context ?? expect.fail();
    expect(send?.ends).toMatchObject([{ outcome: "failed", error: { code: "REJECTED" } }]);
    const trace = { trace_id: context.traceId, span_id: context.spanId };
    expect(lines).toMatchObject([{ message: "message dead-lettered", ...trace }]);
    const entry = await firstEntry(dlqOf());
    expect(readTraceContext(entry.envelope.headers)).toEqual(context);

    const result = await supervisor.redrive([entry.id], bound());
    expect(result.redriven).toBe(1);
    await supervisor.shutdown();
    const redriven = tracer.of("deliver")[1] ?? expect.fail("no span for the redrive");
    expect(redriven.start).toMatchObject({ origin: "redriven" });
    expect(redriven.came).toEqual(context);
    expect(tracer.of("send")[1]?.parent).toEqual(redriven.context);
    expect(redriven.ends).toHaveLength(1);
  });

  test("whose traceparent a processor takes away tells the target nothing, and stays one trace", async () => {
    const forget: Processor = {
      process: (envelope) => ({ kind: "pass", envelope: { ...envelope, headers: {} } }),
    };
    const { hub, supervisor, tracer, sent } = tracedBridge({ deliveryMode, processors: [forget] });
    await supervisor.start(bound());
    hub.publish("in", { id: "m1", headers: { traceparent: INCOMING } });
    await hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await supervisor.shutdown();
    expect({ ...sent()[0]?.headers }).toEqual({});
    expect(tracer.of("send")[0]?.parent).toEqual(tracer.of("deliver")[0]?.context);
  });

  test("that nobody is to see goes out with what it came with", async () => {
    const { hub, supervisor, tracer, sent } = tracedBridge({ deliveryMode });
    tracer.sampled = false;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1", headers: { traceparent: "not one", tracestate: "a=1" } });
    await hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await supervisor.shutdown();
    expect({ ...sent()[0]?.headers }).toEqual({ traceparent: "not one", tracestate: "a=1" });
  });
});

test("each try has a span of its own, and the last one is what the target gets", async () => {
  const { hub, clock, supervisor, tracer, sent } = tracedBridge();
  await supervisor.start(bound());
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => tracer.of("send")[0]?.ends.length === 1);
  await clock.advance(2_000);
  await hub.channel("in").waitForSettlements(1, bound());
  await supervisor.shutdown();
  const [first, second] = tracer.of("send");
  expect([first?.start, second?.start]).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  expect([first?.ends, second?.ends]).toMatchObject([[{ outcome: "failed" }], [{ outcome: "accepted" }]]);
  expect(readTraceContext(sent()[0]?.headers ?? {})).toEqual(second?.context);
  expect(tracer.of("deliver")).toMatchObject([{ ends: [{ outcome: "delivered" }] }]);
});

test("the legs of a fan-out have a span each, and targets are told which", async () => {
  const { hub, supervisor, tracer, sent } = tracedBridge({ dispatchMode: "fan_out", bindings: ["a", "b"] });
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await hub.channel("in").waitForSettlements(1, bound());
  await supervisor.shutdown();
  const told = ["a", "b"].map((channel) => readTraceContext(sent(channel)[0]?.headers ?? {}));
  expect(tracer.of("send").map(({ context }) => context)).toEqual(told);
  expect(new Set(told.map((context) => context?.spanId)).size).toBe(2);
});

test("a delivery that a stop abandons ends its spans, and a settlement that fails is found by its trace", async () => {
  const { hub, supervisor, tracer } = tracedBridge();
  await supervisor.start(bound());
  using held = hub.channel("out").sends.hold();
  hub.publish("in", { id: "m1" });
  await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
  await supervisor.shutdown();
  held[Symbol.dispose]();
  expect(tracer.of("deliver")).toMatchObject([{ ends: [{ outcome: "abandoned" }] }]);
  expect(tracer.of("send")).toMatchObject([{ ends: [{ outcome: "cancelled" }] }]);

  const again = tracedBridge();
  await again.supervisor.start(bound());
  again.hub.channel("in").settles.failNext(1, outage);
  again.hub.publish("in", { id: "m2" });
  await again.hub.channel("in").waitForSettlements(1, bound());
  await again.supervisor.shutdown();
  const [first] = again.tracer.of("deliver");
  expect(again.lines).toMatchObject([{ trace_id: first?.context.traceId, span_id: first?.context.spanId }]);
});
