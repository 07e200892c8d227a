/** A bridge that a collector of OpenTelemetry watches: `OTEL_EXPORTER_OTLP_ENDPOINT=… pnpm run traced` @module */
import process, { env } from "node:process";
import { type BridgeDocument, createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, instanceIdOf } from "@bridge/core";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { readMetrics } from "@bridge/telemetry";
import { openOtlp } from "@bridge/telemetry-otlp";
import { memoryHub, memory } from "@bridge/transport-memory";

const hub = memoryHub();
const registry = createRegistry({ transports: [memory(hub)] });
const document: BridgeDocument = {
  bridge: { id: "plant" },
  telemetry: { otlp: { traces: { sample_ratio: 1 } } }, // the environment says where
  receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
  senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  routes: [
    {
      id: "r",
      receiver_id: "in",
      bindings: ["to-out"],
      policy: { on_permanent_failure: "drop", on_expired: "drop" },
    },
  ],
};
const config = parseConfig(document, registry);
const { otlp: section } = config.telemetry;
if (section === undefined) throw new Error("the document above has the block");
const instanceId = instanceIdOf(config, systemRandom());
const readAll = () => readMetrics({ supervisor: bridge, servers: [], auditFailures: new Map() }, systemClock);
const parts = { clock: systemClock, logger: silentLogger, readMetrics: readAll, version: "1.0.0" };
const otlp = openOtlp({ ...parts, section, env, bridgeId: config.bridge.id, instanceId });
const bridge = createSupervisor({ config, registry, instanceId, tracer: otlp.tracer });

for (const each of otlp.exports) each.start();
const soon = AbortSignal.timeout(10_000);
await bridge.start(soon);
hub.publish("in", { payload: "hello" });
await hub.channel("in").waitForSettlements(1, soon);
console.log(hub.channel("out").messages()[0]?.headers?.["traceparent"]);

await bridge.shutdown();
const rest = AbortSignal.timeout(5_000);
const stops = await Promise.allSettled(otlp.exports.map((each) => each.stop(rest))); // hands over the rest
const failed = stops.find((stop) => stop.status === "rejected");
if (failed !== undefined) {
  console.error(
    `not handed over: ${(failed.reason as Error).message}; is there a collector at OTEL_EXPORTER_OTLP_ENDPOINT?`,
  );
  process.exitCode = 1;
}
