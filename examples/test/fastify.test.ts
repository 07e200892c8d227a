import { expect, test } from "vitest";
import { start } from "./support/start.ts";

test("fastify: a request is answered with what became of its message, and closing the server stops the bridge", async () => {
  await using server = start("fastify/server.ts", { PORT: "0" });
  const [url] = await server.printed(/http:\S+/);
  const order = async (body: object): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`${url}/orders`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.json()];
  };
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  expect(await order({ item: "apple", count: 3 })).toEqual([200, { outcome: "delivered" }]);
  expect(await order({ item: "apple", count: 2 })).toEqual([200, { outcome: "delivered" }]);
  expect(await order({ item: "apple", count: 0 })).toEqual([422, { outcome: "dead_lettered" }]);
  expect(await order({ item: "apple" })).toMatchObject([400, { statusCode: 400 }]);
  expect(await (await fetch(`${url}/sold`)).json()).toEqual({ apple: 5 });
  server.kill("SIGTERM");
  expect(await server.ended).toBe(0);
});
