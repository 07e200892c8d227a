import { describe, expect, test } from "vitest";
import { openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";
import { openWebService } from "./support/web-service.ts";

interface Page {
  readonly messages: readonly { readonly id: string; readonly error_code: string }[];
}

describe("mqtt-to-http.yaml", () => {
  test("orders outlast an outage of the web service, and one that it refuses can be redriven", async () => {
    await using broker = await openBroker();
    await using shop = await openWebService();
    const env = ownEnvironment({ BROKER_URL: broker.url, TARGET_URL: shop.url });
    const topics = env.TOPICS;
    const client = await broker.client();
    const order = (name: string) => client.publishAsync(`${topics}/orders`, name, { qos: 1 });
    const taken = new Set<string>();
    let away = true;
    let refusing = true;
    shop.answer = ({ body }) => {
      if (away) return 503;
      if (refusing && body === "odd") return 422;
      taken.add(body);
      return 204;
    };

    await using bridge = await Example.run("mqtt-to-http.yaml", env);
    await Promise.all([order("apples"), order("pears"), order("odd")]);
    await expect.poll(() => shop.calls.length, { timeout: 30_000 }).toBeGreaterThan(8);
    expect(await bridge.admin("/dlq")).toMatchObject({ count: 0 });
    away = false;
    await expect.poll(() => [...taken].toSorted(), { timeout: 30_000 }).toEqual(["apples", "pears"]);
    expect(shop.calls[0]).toMatchObject({ path: "/orders", headers: { "x-subject": `${topics}/orders` } });

    const page = () => bridge.admin("/dlq/messages") as Promise<Page>;
    await expect.poll(async () => (await page()).messages.length, { timeout: 30_000 }).toBe(1);
    const [entry] = (await page()).messages;
    expect(entry?.error_code).toBe("SCHEMA_VIOLATION");
    refusing = false;
    expect(await bridge.admin("/dlq/redrive", { ids: [entry?.id] })).toEqual({ redriven: 1, failed: 0 });
    expect(taken).toContain("odd");
    expect(await bridge.admin("/dlq")).toMatchObject({ count: 0 });
    expect(await bridge.end("SIGTERM")).toBe(0);
    await broker.forget(`${topics}-mqtt-to-http`);
  });
});
