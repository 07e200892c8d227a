import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noMqtt5, openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";
import { openWebService } from "./support/web-service.ts";

const CUSTOMERS = 7;
const REFUSED = [13, 14, 120, 299];

interface Page {
  readonly messages: readonly { readonly id: string; readonly error_code: string; readonly binding_id: string }[];
}

const patience = { timeout: 45_000 };
const customerOf = (order: number) => `customer-${order % CUSTOMERS}`;

function ordersByCustomer(orders: readonly number[]): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const order of orders) (found[customerOf(order)] ??= []).push(order);
  return found;
}

describe.skipIf(noMqtt5)("durable-outbox.yaml", () => {
  test("orders outlast kills while the web service is away; what it refuses outlasts one too, and can be redriven", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "bridge-durable-outbox-"));
    await using broker = await openBroker();
    await using shop = await openWebService();
    const env = ownEnvironment({ BROKER_URL: broker.url, TARGET_URL: shop.url, DATA_DIR: folder.path });
    const client = await broker.client(5);
    const publish = (id: string, payload: string, key: string) =>
      client.publishAsync(`${env.TOPICS}/durable-orders`, payload, {
        qos: 1,
        properties: { userProperties: { "message-id": id, "ordering-key": key } },
      });
    const orders = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, index) => {
          const count = from + index;
          return publish(`order-${count}`, JSON.stringify({ item: "apple", count }), customerOf(count));
        }),
      );
    const taken: number[] = [];
    let refusing = true;
    shop.away = true;
    shop.answer = ({ body }) => {
      const { count } = JSON.parse(body) as { readonly count: number };
      if (refusing && REFUSED.includes(count)) return 400;
      taken.push(count);
      return 204;
    };

    let bridge = await Example.run("durable-outbox.yaml", env);
    try {
      const restart = async () => {
        expect(await bridge.end("SIGKILL")).toBe("SIGKILL");
        bridge = await Example.run("durable-outbox.yaml", env);
      };
      const depth = async () => ((await bridge.admin("/outbox")) as { readonly depth: number }).depth;
      const deadLetters = async () => ((await bridge.admin("/dlq/messages?limit=50")) as Page).messages;

      const first = orders(1, 200);
      await expect.poll(depth, patience).toBeGreaterThan(20);
      await restart();
      await first;
      const second = orders(200, 301);
      await expect.poll(depth, patience).toBeGreaterThan(200);
      await restart();
      await second;
      await publish("odd", JSON.stringify({ item: 7 }), "customer-1");
      await expect.poll(depth, patience).toBe(300);
      expect(taken).toEqual([]);

      shop.away = false;
      await expect.poll(depth, patience).toBe(0);
      const all = Array.from({ length: 300 }, (_, index) => index + 1);
      expect(ordersByCustomer([...new Set(taken)])).toEqual(
        ordersByCustomer(all.filter((order) => !REFUSED.includes(order))),
      );
      const [call] = shop.calls;
      expect(call?.path).toBe("/orders");
      expect(call?.headers["idempotency-key"]).toMatch(/^order-/);
      await restart();
      const left = await deadLetters();
      expect(left.map(({ error_code: code, binding_id: binding }) => ({ code, binding }))).toEqual([
        { code: "SCHEMA_VIOLATION", binding: "" },
        ...REFUSED.map(() => ({ code: "INVALID_PAYLOAD", binding: "to-shop" })),
      ]);

      refusing = false;
      const [odd, ...refused] = left.map(({ id }) => id);
      expect(await bridge.admin("/dlq/redrive", { ids: refused })).toMatchObject({ redriven: 4, failed: 0 });
      expect(taken.slice(-4).toSorted((a, b) => a - b)).toEqual(REFUSED);
      expect(await bridge.admin("/dlq/delete", { ids: [odd] })).toEqual({ deleted: 1 });
      expect(await bridge.admin("/dlq")).toMatchObject({ count: 0 });
      expect(await bridge.end("SIGTERM")).toBe(0);
    } finally {
      await bridge[Symbol.asyncDispose]();
      await broker.forget(`${env.TOPICS}-durable-outbox`);
    }
  });
});
