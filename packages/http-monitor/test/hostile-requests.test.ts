import { type Described, hostileRequests } from "@bridge/tooling/hostile-requests";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MONITOR_KEY, startMonitor } from "./monitor.ts";

describe("quality 4: hostile input to the monitor server", () => {
  it("is answered as documented and never with an internal error", async () => {
    await using monitor = await startMonitor(undefined);
    const document = (await (await monitor.get("openapi.json")).json()) as Described;
    await fc.assert(
      fc.asyncProperty(hostileRequests(document), fc.boolean(), async ({ method, target, documented }, keyed) => {
        const headers = keyed ? { "X-API-Key": MONITOR_KEY } : undefined;
        const response = await fetch(monitor.url + target, { method, ...(headers && { headers }) });
        expect(documented).toContain(response.status);
        expect(response.status).not.toBe(500);
        const text = await response.text();
        if (response.headers.get("Content-Type") === "application/json") JSON.parse(text);
        else expect(target).toMatch(/^\/api\/v1\/monitor\/metrics/);
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
