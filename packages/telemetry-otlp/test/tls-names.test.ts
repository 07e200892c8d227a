import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { TLS_SECRET, tlsNames } from "@bridge/tooling/tls-names";
import { afterAll, beforeAll } from "vitest";
import { openOtlp } from "../src/open-otlp.ts";
import { bound, SECTION } from "./support/traced-bridge.ts";

const server = createServer((request, answer) => {
  request.resume();
  answer.writeHead(200, { "content-type": "application/x-protobuf" }).end();
});
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

tlsNames("an export over OTLP", {
  present: async (pair) => {
    server.setSecureContext(pair);
    return (server.address() as AddressInfo).port;
  },
  connect: async ({ host, port, caFile }) => {
    const lines: LogFields[] = [];
    const { exports } = openOtlp({
      section: {
        ...SECTION,
        endpoint: `https://${host}:${port}`,
        caFile,
        timeoutMs: 500,
        headers: { authorization: TLS_SECRET },
        metrics: { ...SECTION.metrics, intervalMs: 20 },
        traces: { ...SECTION.traces, enabled: false },
      },
      env: {},
      bridgeId: "plant",
      instanceId: "plant-a",
      version: undefined,
      readMetrics: () => Promise.resolve([]),
      clock: systemClock,
      logger: { ...silentLogger, warn: (_, fields = {}) => void lines.push(fields) },
    });
    for (const one of exports) one.start();
    const told = new Promise<void>((resolve) => server.once("request", () => resolve()));
    await Promise.race([told, until(() => lines.length > 0)]);
    for (const one of exports) await one.stop(bound()).catch(() => {});
    const [line] = lines;
    if (line === undefined) return;
    throw Object.assign(new Error(`${String(line["collector"])}: ${String(line["error"])}`), {
      code: "CONNECTION_LOST",
    });
  },
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await systemClock.delay(5, bound());
}
