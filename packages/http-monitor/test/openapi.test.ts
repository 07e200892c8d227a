import { Documented, type OpenApiDocument } from "@bridge/http-kit/documented";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { makeBridge, MONITOR_KEY, startMonitor } from "./monitor.ts";

const OPEN = ["health", "live", "ready"];
const PROTECTED = ["deephealth", "metrics", "routes", "topology"];

const ajv = new Ajv({ strict: false, validateFormats: false });

function validate(schema: object, value: unknown): string | undefined {
  return ajv.validate(schema, value) ? undefined : ajv.errorsText();
}

describe("the OpenAPI document of the monitor", () => {
  it("is open, names every endpoint and no other, and every answer is as it says", async () => {
    const { supervisor, faults } = makeBridge();
    const configWatch = () => ({ source: "bridge.yaml", version: 4, lastReloadAt: 0, restartRequired: "http" });
    await using monitor = await startMonitor(supervisor, { configWatch, throttle: { limit: PROTECTED.length } });
    const document = (await (await monitor.get("openapi.json")).json()) as OpenApiDocument;
    const documented = new Documented(document, validate);
    const paths = [...OPEN, ...PROTECTED].map((name) => `GET /api/v1/monitor/${name}`);
    expect(documented.operations.toSorted()).toEqual(
      [...paths, "GET /api/v1/openapi.json", "GET /api/v1/monitor/openapi.json"].toSorted(),
    );

    const hold = async (name: string, key?: string): Promise<void> => {
      const [path = ""] = name.split("?");
      await documented.hold(`GET /api/v1/monitor/${path}`, await monitor.get(`monitor/${name}`, key));
    };
    const holdAll = async (): Promise<void> => {
      for (const name of [...OPEN, "ready?level=live", "ready?level=full", "ready?level=x"]) await hold(name);
      for (const name of PROTECTED) await hold(name, MONITOR_KEY);
    };
    for (const path of ["openapi.json", "monitor/openapi.json"])
      await documented.hold(`GET /api/v1/${path}`, await monitor.get(path));
    await holdAll();
    const signal = AbortSignal.timeout(20_000);
    await supervisor.start(signal);
    await expect.poll(() => supervisor.view().level).toBe("full");
    await holdAll();
    faults.close = new Error("no");
    await supervisor.stop(signal).catch(() => {});
    await supervisor.start(signal).catch(() => {});
    await holdAll();
    for (let n = 0; n < 2; n++) for (const name of PROTECTED) await hold(name, "wrong");

    const expected = {
      health: [200, 503],
      live: [200, 503],
      ready: [200, 400, 503],
      deephealth: [200, 401, 429, 503],
      metrics: [200, 401, 429],
      routes: [200, 401, 429],
      topology: [200, 401, 429],
    };
    for (const [name, statuses] of Object.entries(expected))
      for (const status of statuses) expect(documented.seen).toContain(`GET /api/v1/monitor/${name} ${status}`);
  });

  it("is the same whatever the installation", async () => {
    await using one = await startMonitor(undefined, { keys: {} });
    await using other = await startMonitor(makeBridge().supervisor);
    expect(await (await one.get("openapi.json")).text()).toBe(await (await other.get("openapi.json")).text());
  });
});
