import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { INSIDE, Site } from "./support/site.ts";

let site: Site;
beforeAll(async () => {
  site = await Site.open();
});
afterAll(() => site[Symbol.asyncDispose]());

describe("a collector of OpenTelemetry", () => {
  test.each([
    ["takes", 0],
    ["hangs", 1],
  ] as const)("that %s: its metrics are flushed within the one budget, or named; exit code %i", async (mood, code) => {
    await using collector = await OtlpCollector.open();
    collector.mood = mood;
    const block = `telemetry: {otlp: {endpoint: "${collector.url}"}}\n`;
    site.write(
      "bridge.yaml",
      `${INSIDE.replace("bridge: {", "bridge: {shutdown_timeout: 1s, drain_timeout: 500ms, ")}${block}`,
    );
    await using instance = site.run(site.bootstrap({ metrics: "none" }));
    await instance.logged("bridge started");
    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(code);
    expect(collector.metric("DLQRedriveFailures") !== undefined).toBe(code === 0);
    const line = instance.log.find(({ msg }) => msg === "the bridge did not stop cleanly");
    expect(String(line?.["error"]).includes("OTLP metrics flush")).toBe(code === 1);
  });
});
