import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ask, INSIDE, Site } from "./support/site.ts";

let site: Site;
beforeAll(async () => {
  site = await Site.open();
  site.write("bridge.yaml", INSIDE);
});
afterAll(() => site[Symbol.asyncDispose]());

interface EmfLine extends Readonly<Record<string, unknown>> {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly [
      { readonly Namespace: string; readonly Metrics: readonly { Name: string }[] },
    ];
  };
}

const linesOf = (stdout: string): readonly EmfLine[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as EmfLine);

describe("metrics on standard output", () => {
  test("are lines of CloudWatch's format, in each interval and at the end, and nothing else", async () => {
    const more = { metrics_namespace: "Plant", metrics_interval: "1h", instance_id: "test-a" };
    await using instance = site.run(site.bootstrap(more));
    await instance.logged("bridge started");
    const body = JSON.stringify({ subject: "s", payload: "" });
    const headers = { "Content-Type": "application/json", "X-API-Key": "an-admin-key-for-tests" };
    expect((await ask(instance, "admin", "routes/only/inject", { method: "POST", body, headers })).status).toBe(200);
    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(0);
    const lines = linesOf(instance.stdout);
    for (const line of lines) {
      const { _aws: meta } = line;
      expect(meta.CloudWatchMetrics[0].Namespace).toBe("Plant");
      expect(line).toMatchObject({ BridgeId: "test", InstanceId: "test-a" });
      for (const { Name } of meta.CloudWatchMetrics[0].Metrics) {
        const observed = { Values: expect.any(Array) as unknown, Counts: expect.any(Array) as unknown };
        expect([expect.any(Number), observed]).toContainEqual(line[Name]);
      }
    }
    const sends = { Route: "only", Binding: "to-out", Outcome: "accepted" };
    const duration = { Values: [expect.any(Number) as unknown], Counts: [1] };
    expect(lines).toContainEqual(expect.objectContaining({ ...sends, SendDuration: duration }));
    expect(lines).toContainEqual(expect.objectContaining({ Route: "only", Binding: "to-out", LegsInjected: 1 }));
    expect(lines).toContainEqual(expect.objectContaining({ DLQRedriveFailures: 0 }));
  });

  test("are written again and again", async () => {
    await using instance = site.run(site.bootstrap({ metrics_interval: "20ms" }));
    await instance.logged("bridge started");
    const writes = () => linesOf(instance.stdout).filter((line) => "Running" in line).length;
    await vi.waitFor(() => expect(writes()).toBeGreaterThan(2), PATIENCE);
  });

  test("are none when they are switched off", async () => {
    await using instance = site.run(site.bootstrap({ metrics: "none" }));
    await instance.logged("bridge started");
    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(0);
    expect(instance.stdout).toBe("");
  });
});
