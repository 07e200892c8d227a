import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { readTraceContext, silentLogger, systemClock, type TransportPlugin } from "@bridge/ports";
import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { memoryHub, memory } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { openOtlp } from "../src/open-otlp.ts";
import { type Hop, HOPS, isMissing } from "./support/hops.ts";
import { bound, SECTION } from "./support/traced-bridge.ts";

const CAME = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const STATE = "vendor@sys=1,other=a b";

/** The ends of the whole way, in memory: under a name of their own, so that the way between may be in memory too. */
function ends(hub = memoryHub()) {
  const plugin: TransportPlugin = { ...memory(hub).plugin(), type: "ends" };
  return { hub, plugin };
}

function documentOf(transport: string, { session, receiver, sender, address }: Hop) {
  const between = session === undefined ? { transport } : { session_id: "between" };
  return {
    bridge: { id: "plant" },
    stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
    sessions: session === undefined ? [] : [{ id: "between", transport, ...session }],
    receivers: [
      { id: "first", transport: "ends", options: { channel: "in" } },
      { id: "second", ...between, ...receiver },
    ],
    senders: [
      { id: "between", ...between, ...sender },
      { id: "out", transport: "ends", options: { channel: "out" } },
    ],
    bindings: [
      { id: "to-between", sender_id: "between", address },
      { id: "to-out", sender_id: "out" },
    ],
    routes: [
      { id: "one", receiver_id: "first", bindings: ["to-between"] },
      { id: "two", receiver_id: "second", bindings: ["to-out"] },
    ],
  };
}

const missing = new Set(await Promise.all(HOPS.map(async (kind) => ((await isMissing(kind)) ? kind : undefined))));

describe("a trace goes on", () => {
  for (const kind of HOPS) {
    test.skipIf(missing.has(kind))(`over ${kind.transport}`, async () => {
      await using collector = await OtlpCollector.open();
      await using hop = await kind.open();
      const { hub, plugin } = ends();
      const registry = createRegistry({ transports: [plugin, hop.plugin], dlqStores: [memoryDlq] });
      const config = parseConfig(documentOf(kind.transport, hop), registry);
      const seams = { clock: systemClock, logger: silentLogger };
      const section = { ...SECTION, endpoint: collector.url, metrics: { ...SECTION.metrics, enabled: false } };
      const otlp = openOtlp({
        ...seams,
        section,
        env: {},
        bridgeId: "plant",
        instanceId: "plant-a",
        version: undefined,
        readMetrics: () => Promise.resolve([]),
      });
      const bridge = createSupervisor({ ...seams, config, registry, tracer: otlp.tracer });
      await bridge.start(bound());
      await expect.poll(() => bridge.view().level, { timeout: 20_000 }).toBe("full");
      hub.publish("in", { id: "m1", payload: "hello", headers: { traceparent: CAME, tracestate: STATE } });
      await hub.channel("out").until((channel) => channel.arrived === 1, bound());
      await bridge.shutdown();
      for (const one of otlp.exports) await one.stop(bound());

      const named = (name: string) => collector.spans.find((span) => span.name === name) ?? expect.fail(name);
      const way = ["process one", "send to-between", "process two", "send to-out"].map(named);
      expect(way.map(({ parentSpanId }) => parentSpanId)).toEqual([
        "b7ad6b7169203331",
        ...way.slice(0, 3).map(({ spanId }) => spanId),
      ]);
      expect(new Set(way.map(({ traceId, traceState }) => `${traceId} ${traceState}`)).size).toBe(1);
      expect(way.map(({ attributes }) => attributes["messaging.system"])).toEqual([
        "ends",
        kind.system,
        kind.system,
        "ends",
      ]);
      const [arrived] = hub.channel("out").messages();
      expect(readTraceContext(arrived?.headers ?? {})).toEqual({
        traceId: "0af7651916cd43dd8448eb211c80319c",
        spanId: way[3]?.spanId,
        flags: 1,
        state: STATE,
      });
    });
  }
});
