import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "./admin.ts";
import { type Described, partsOf, type Schema } from "./described.ts";
import { startTransactional, type Transactional } from "./transactional.ts";

/** Of bodies: what may be a secret or a part of a message, so that its value is shown to nobody. */
const SECRET = new Set(["payload", "headers"]);
const LONG = "x".repeat(100_000);

/** Values that a part of a request cannot have, each with what the answer has to show of it. */
function* badValues({
  type,
  enum: words,
  format,
  pattern,
  maxLength,
  minimum,
  maximum,
}: Schema): Generator<[unknown, string]> {
  switch (type) {
    case "string":
      yield [7.25, "7.25"];
      yield [null, "null"];
      yield [["a"], "an array"];
      if (words !== undefined) yield ["nonsense", '"nonsense"'];
      if (format === "date-time") yield ["yesterday", '"yesterday"'];
      if (maxLength !== undefined && maxLength < LONG.length)
        yield [LONG.slice(0, maxLength + 1), pattern === undefined ? `(got ${maxLength + 1})` : '(got "xxx'];
      else if (pattern !== undefined && format === undefined) yield ["a\u001bb", String.raw`\u001b`];
      return;
    case "boolean":
      yield ["yes", '"yes"'];
      yield [1, "1"];
      return;
    case "number":
    case "integer":
      yield ["many", '"many"'];
      yield [{}, "an object"];
      if (type === "integer") yield [1.5, "1.5"];
      if (minimum !== undefined) yield [minimum - 1, `${minimum - 1}`];
      if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) yield [maximum + 1, `${maximum + 1}`];
      return;
    case "array":
      yield ["one", '"one"'];
      return;
    case "object":
      yield [7.25, "7.25"];
      return;
    case undefined:
    default:
  }
}

describe("what a request cannot be", () => {
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

  it("is 400, and names the field and the value, unless that may be a secret or a part of a message", async () => {
    const wrong: string[] = [];
    let looked = 0;
    for (const [template, operations] of Object.entries(described.paths)) {
      const path = template
        .slice("/api/v1/admin".length)
        .replace("/config/transactions/{txnID}", transaction)
        .replace("{routeID}", "alarms");
      for (const [method, { requestBody, parameters = [] }] of Object.entries(operations)) {
        if (method === "patch" && path === transaction) continue;
        const schema = requestBody?.content["application/json"]?.schema;
        const asked: [name: string, bad: unknown, shown: string, body: unknown, query: string][] = [];
        for (const [name, part, bodyOf] of schema === undefined ? [] : partsOf(schema, described))
          for (const [bad, shown] of badValues(part))
            asked.push([name.replace(/\.any$/, ""), bad, shown, bodyOf(bad), ""]);
        for (const { name, schema: part } of parameters.filter((parameter) => parameter.in === "query"))
          for (const [bad] of badValues(part))
            if (typeof bad === "string" && bad.length < 100)
              asked.push([name, bad, JSON.stringify(bad), undefined, `?${name}=${encodeURIComponent(bad)}`]);
        for (const [name, bad, shown, body, query] of asked) {
          looked++;
          const { status, body: answer } = await admin.call(method.toUpperCase(), path + query, body);
          const { error = "" } = answer as { readonly error?: string };
          const says =
            error.split("; ").find((one) => one.replace(/^invalid [a-z ]+: /, "").startsWith(`${name}: `)) ?? "";
          const isSecret = body !== undefined && SECRET.has(name);
          const isGood = status === 400 && says !== "" && (isSecret ? !says.includes("(got") : says.includes(shown));
          if (!isGood)
            wrong.push(`${method} ${template} ${name}=${JSON.stringify(bad)?.slice(0, 40)}: ${status} ${error}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(150);
  });
});
