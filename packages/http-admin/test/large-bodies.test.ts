import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as v from "valibot";
import { list } from "../src/bounded-list.ts";
import { ADMIN_KEY } from "./admin.ts";
import { startTransactional, type Transactional } from "./transactional.ts";

const MANY = 5_000;
/** Of what is wrong, more than these are not even collected. */
const FEW = 1_000;

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Described {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<
    Record<
      string,
      Record<
        string,
        { readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> } }
      >
    >
  >;
}

const NAMES = Array.from({ length: MANY }, (_, nth) => [`k${nth}`, 1] as const);

/** Where a body may grow, by elements or by names: each with a body that has many there, all of them wrong, and nothing else. */
function* large(schema: Schema, described: Described, seen: readonly string[] = []): Generator<[string, unknown]> {
  const { $ref, anyOf = [], items, properties, additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1) ?? "";
    if (!seen.includes(name)) yield* large(described.components.schemas[name] ?? {}, described, [...seen, name]);
    return;
  }
  for (const one of anyOf) yield* large(one, described, seen);
  if (items !== undefined) {
    yield ["[]", Array.from({ length: MANY }, () => 1)];
    for (const [path, value] of large(items, described, seen)) yield [`[0]${path}`, [value]];
  }
  if (properties !== undefined || additionalProperties !== undefined) yield [".any", Object.fromEntries(NAMES)];
  for (const [name, part] of Object.entries(properties ?? {}))
    for (const [path, value] of large(part, described, seen)) yield [`.${name}${path}`, { [name]: value }];
}

describe("a body with very many elements or names", () => {
  let admin: Transactional;
  let transaction: string;
  let described: Described;
  beforeAll(async () => {
    admin = await startTransactional({ outbox: true });
    transaction = await admin.opened();
    const headers = { "X-API-Key": ADMIN_KEY };
    described = (await (await fetch(`${admin.url}/api/v1/openapi.json`, { headers })).json()) as Described;
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  it("is refused in a few words, wherever it has them, and what is wrong with each is not collected", async () => {
    let looked = 0;
    for (const [template, operations] of Object.entries(described.paths))
      for (const [method, { requestBody }] of Object.entries(operations)) {
        const schema = requestBody?.content["application/json"]?.schema;
        for (const [path, body] of schema === undefined ? [] : large(schema, described)) {
          looked++;
          const place = template
            .slice("/api/v1/admin".length)
            .replace("/config/transactions/{txnID}", transaction)
            .replace("{routeID}", "alarms");
          const { status, body: answer } = await admin.call(method.toUpperCase(), place, body);
          const { error = "" } = answer as { readonly error?: string };
          const [, more = "0"] = /and (\d+) more$/.exec(error) ?? [];
          const told = { status, length: error.length < 2_000, few: Number(more) < FEW };
          expect([method, template, path, told]).toEqual([
            method,
            template,
            path,
            { status: 400, length: true, few: true },
          ]);
        }
      }
    expect(looked).toBeGreaterThan(20);
  });

  it("has none of its elements looked at when a list is too long", () => {
    const looksAt = vi.fn<(value: unknown) => boolean>(() => false);
    const schema = list(v.custom<string>(looksAt, "wrong"), 3, { expected: "expected a list", tooMany: "too many" });
    const problemsOf = (given: unknown) => v.safeParse(schema, given).issues?.map(({ message }) => message);
    expect(problemsOf(Array.from({ length: 4 }))).toEqual(["too many"]);
    expect(looksAt).not.toHaveBeenCalled();
    expect(problemsOf([1, 2, 3])).toEqual(["wrong", "wrong", "wrong"]);
    expect(problemsOf("a")).toEqual(["expected a list"]);
  });
});
