import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY, startAdmin } from "./admin.ts";
import { type Described, partsOf } from "./described.ts";
import { startTransactional, type Transactional } from "./transactional.ts";

describe("texts with half of a character", () => {
  let admin: Transactional;
  let transaction: string;
  let described: Described;
  beforeAll(async () => {
    const history = { read: async () => ({ events: [] }), verify: async () => ({ records: 0, head: "" }) };
    admin = await startTransactional({ outbox: true, admin: { history } });
    transaction = await admin.opened();
    const headers = { "X-API-Key": ADMIN_KEY };
    described = (await (await fetch(`${admin.url}/api/v1/openapi.json`, { headers })).json()) as Described;
  });
  afterAll(() => admin[Symbol.asyncDispose]());
  const place = (template: string): string =>
    template
      .slice("/api/v1/admin".length)
      .replace("/config/transactions/{txnID}", transaction)
      .replace("{routeID}", "alarms");

  it("are 400 wherever a body may have a text, and the place is named", async () => {
    let looked = 0;
    for (const [template, operations] of Object.entries(described.paths))
      for (const [method, { requestBody }] of Object.entries(operations)) {
        const schema = requestBody?.content["application/json"]?.schema;
        for (const [name, { type }, bodyOf] of schema === undefined ? [] : partsOf(schema, described)) {
          if (type !== "string") continue;
          looked++;
          const error = String.raw`invalid request body: ${name}: has half of a character, \ud83d at 5: give whole Unicode characters`;
          const answer = await admin.call(method.toUpperCase(), place(template), bodyOf("cut \ud83d"));
          expect([method, template, answer]).toMatchObject([method, template, { status: 400, body: { error } }]);
        }
      }
    expect(looked).toBeGreaterThan(50);
  });

  it("are 400 in each parameter of each query, as bytes that are no UTF-8", async () => {
    let looked = 0;
    for (const [template, operations] of Object.entries(described.paths))
      for (const [method, { parameters = [] }] of Object.entries(operations))
        for (const { name } of parameters.filter((parameter) => parameter.in === "query")) {
          looked++;
          const answer = await admin.call(method.toUpperCase(), `${place(template)}?${name}=a%ED%A0%80`);
          const error = expect.stringContaining(`${name}: a % has to begin two hexadecimal digits, of UTF-8`) as string;
          expect([method, template, answer]).toMatchObject([method, template, { status: 400, body: { error } }]);
        }
    expect(looked).toBeGreaterThan(30);
  });

  it("are 400 of an inject: nothing comes into the bridge, and no dead letter of it", async () => {
    await using other = await startAdmin();
    for (const [field, body] of [
      ["subject", { subject: "\ud83d" }],
      ["id", { subject: "s", id: "m\ude00" }],
      ["headers.a", { subject: "s", headers: { a: "\ude00" } }],
      ["headers", { subject: "s", headers: { "a\ude00": "" } }],
    ] as const)
      expect(await other.call("POST", "/routes/alarms/inject", body)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining(`invalid request body: ${field}: `) as string },
      });
    expect(await other.ids()).toEqual([]);
  });
});
