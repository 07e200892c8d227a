import { describe, expect, test } from "vitest";
import { openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";
import { openWebService } from "./support/web-service.ts";

const CALM = '{"level":"info","temperature":20}';
const ALARM = '{"level":"alarm"}';
const HOT = '{"level":"info","temperature":95}';

describe("fan-out.yaml", () => {
  test("everything is archived; alarms and a boiler that is too hot call the web service as well", async () => {
    await using broker = await openBroker();
    await using pager = await openWebService();
    const env = ownEnvironment({ BROKER_URL: broker.url, TARGET_URL: pager.url });
    const topics = env.TOPICS;
    const client = await broker.client();
    const archived: string[] = [];
    client.on("message", (_topic, payload) => archived.push(payload.toString()));
    await client.subscribeAsync(`${topics}/archive`, { qos: 1 });
    const read = (where: string, payload: string) =>
      client.publishAsync(`${topics}/readings/${where}`, payload, { qos: 1 });

    await using bridge = await Example.run("fan-out.yaml", env);
    for (const [where, payload] of [
      ["kitchen", CALM],
      ["kitchen", ALARM],
      ["kitchen", HOT],
      ["boiler-1", HOT],
    ] as const)
      await read(where, payload);

    await expect.poll(() => archived.toSorted(), { timeout: 30_000 }).toEqual([ALARM, CALM, HOT, HOT].toSorted());
    await expect.poll(() => pager.calls.map(({ body }) => body).toSorted()).toEqual([ALARM, HOT].toSorted());
    expect(new Set(pager.calls.map(({ path }) => path))).toEqual(new Set(["/alarms"]));
    expect(pager.calls.map(({ headers }) => headers["x-subject"])).toContain(`${topics}/readings/boiler-1`);
    expect(await bridge.end("SIGTERM")).toBe(0);
    await broker.forget(`${topics}-fan-out`);
  });
});
