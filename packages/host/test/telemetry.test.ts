import { PATIENCE } from "@bridge/tooling/patience";
import { createRegistry } from "@bridge/config";
import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { openOtlp } from "@bridge/telemetry-otlp";
import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { memoryHub, memory } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { type OpenTelemetry, serveBridge, serverKeys, storeOrigin } from "../src/index.ts";
import { StandIn } from "./stand-in.ts";

const KEY = "a-key-for-the-host-tests";

function documentOf(endpoint: string, shutdownTimeout = "20s"): Readonly<Record<string, unknown>> {
  return {
    bridge: { id: "plant", instance_id: "plant-a", shutdown_timeout: shutdownTimeout, drain_timeout: "100ms" },
    http: { admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0" },
    telemetry: {
      otlp: { endpoint, headers: { "x-api-key": "planted-key" }, timeout: "10s", metrics: { enabled: true } },
    },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
    senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
    bindings: [{ id: "to-out", sender_id: "out" }],
    routes: [
      {
        id: "only",
        receiver_id: "in",
        bindings: ["to-out"],
        policy: { on_permanent_failure: "drop", on_expired: "drop" },
      },
    ],
  };
}

function serve(
  document: Readonly<Record<string, unknown>>,
  telemetry: { readonly open?: OpenTelemetry } = { open: openOtlp },
) {
  const host = new StandIn();
  const hub = memoryHub();
  const code = serveBridge({
    registry: createRegistry({ transports: [memory(hub)] }),
    host: host.process,
    startEmpty: true,
    budgets: "one",
    telemetry: telemetry.open,
    version: "3.2.1",
    prepare: () => ({
      origin: storeOrigin(openMemoryConfig(new MemoryDocument(document)), {
        env: () => undefined,
        file: () => Promise.reject(new Error("no")),
      }),
      keys: () => serverKeys({ adminApiKey: KEY }),
    }),
  });
  const logged = async (msg: string): Promise<void> => {
    await expect.poll(() => host.log.find((line) => line["msg"] === msg), { timeout: 20_000 }).toBeDefined();
  };
  const lineOf = (msg: string) => host.log.find((line) => line["msg"] === msg) ?? {};
  return { host, hub, code, logged, lineOf };
}

function odd(): never {
  throw new Error("OTEL_TRACES_SAMPLER is odd");
}

describe("a process that exports over OTLP", () => {
  test("hands over what it has at its end, and shows what it exports in its own metrics", async () => {
    await using collector = await OtlpCollector.open();
    const { host, hub, code, logged, lineOf } = serve(documentOf(collector.url));
    await logged("bridge started");
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, AbortSignal.timeout(PATIENCE.timeout));
    const monitor = String(lineOf("monitor server listens")["url"]);
    const text = await (await fetch(`${monitor}/api/v1/monitor/metrics`, { headers: { "X-API-Key": KEY } })).text();
    expect(text).toContain('bridge_otlp_spans_dropped_total{reason="queue_full"} 0');
    expect(text).toContain("bridge_server_connections{");
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("stopped");
    expect(collector.spans.map(({ name }) => name).toSorted()).toEqual(["process only", "send to-out"]);
    expect(collector.spans[0]?.resource).toMatchObject({
      "service.name": "plant",
      "service.instance.id": "plant-a",
      "service.version": "3.2.1",
    });
    expect(collector.metric("DLQRedriveFailures")?.points).toMatchObject([{ value: 0 }]);
    expect(collector.requests.every(({ headers }) => headers["x-api-key"] === "planted-key")).toBe(true);
    expect(host.stderr.text).not.toContain("planted-key");
  });

  test("spec 3.3: names the exports that a collector which hangs did not take, within the budget, and carries on till then", async () => {
    await using collector = await OtlpCollector.open();
    collector.mood = "hangs";
    const { host, hub, code, logged, lineOf } = serve(documentOf(collector.url, "700ms"));
    await logged("bridge started");
    for (let at = 0; at < 50; at++) hub.publish("in", { id: `m${at}` });
    await hub.channel("in").waitForSettlements(50, AbortSignal.timeout(PATIENCE.timeout));
    host.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe("not_stopped");
    const { error } = lineOf("the bridge did not stop cleanly");
    expect(error).toMatch(/OTLP traces flush: still stopping after 700 ms/);
    expect(error).toMatch(/OTLP metrics flush: still stopping after 700 ms/);
  });

  test("does not start when it has no export, or the environment says what cannot be", async () => {
    const refusals = [
      [{}, "telemetry.otlp: this program has no OTLP export; remove the block"],
      [{ open: odd }, "OTEL_TRACES_SAMPLER is odd"],
    ] as const;
    for (const [telemetry, error] of refusals) {
      const process = serve(documentOf("http://127.0.0.1:4318"), telemetry);
      expect(await process.code).toBe("not_started");
      expect(process.lineOf("the bridge cannot start")["error"]).toBe(error);
    }
  });
});
