import type { QueryCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "@bridge/dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { systemRandom } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { EntryIndex } from "../src/entry-index.ts";
import { inOrder } from "../src/in-order.ts";
import { atOrAfter, justAfter, orderKey } from "../src/order-key.ts";
import { PartitionReader } from "../src/partition-reader.ts";
import { shardsOf } from "../src/partitions.ts";

const { signal } = new AbortController();
const hex = fc.stringMatching(/^[\da-f]{1,64}$/);
type Asked = QueryCommand["input"];

/** Answers queries as the service does, from order keys in memory; the suite has the same against dynalite. */
class Partitions {
  readonly asked: Asked[] = [];
  readonly served = new Map<string, number>();
  readonly #keys = new Map<string, string[]>();

  constructor(entries: readonly { readonly partition: string; readonly key: string }[]) {
    for (const { partition, key } of entries) this.#keysOf(partition).push(key);
    for (const keys of this.#keys.values()) keys.sort();
  }

  get client(): DynamoClient {
    return { send: async ({ input }: QueryCommand) => this.#answer(input) } as unknown as DynamoClient;
  }

  #keysOf(partition: string): string[] {
    let keys = this.#keys.get(partition);
    if (keys === undefined) this.#keys.set(partition, (keys = []));
    return keys;
  }

  #answer(input: Asked) {
    this.asked.push(input);
    const { ":partition": partition, ":from": from, ":to": to } = input.ExpressionAttributeValues ?? {};
    const name = partition?.S ?? "";
    const after = input.ExclusiveStartKey?.["order_key"]?.S ?? "";
    const matching = this.#keysOf(name).filter((key) => key >= (from?.S ?? "") && key <= (to?.S ?? "") && key > after);
    const page = matching.slice(0, input.Limit);
    this.served.set(name, (this.served.get(name) ?? 0) + page.length);
    const items = page.map((key): Item => ({ order_key: { S: key }, partition: { S: name } }));
    const last = page.at(-1);
    return {
      Items: items,
      Count: items.length,
      // The service says so also when there happens to be nothing more.
      ...(page.length === input.Limit && last !== undefined && { LastEvaluatedKey: { order_key: { S: last } } }),
    };
  }
}

test("the entries of all partitions come in order, each once, and few of them are in memory", async () => {
  const entry = fc.record({
    partition: fc.constantFrom("p0", "p1", "p2"),
    key: fc.integer({ min: 0, max: 10 ** 6 }).map((time) => orderKey(time, "id")),
  });
  const entries = fc.uniqueArray(entry, {
    selector: ({ partition, key }) => partition + key,
    maxLength: 120,
    size: "max",
  });
  await fc.assert(
    fc.asyncProperty(entries, fc.integer({ min: 1, max: 20 }), async (all, pageSize) => {
      const partitions = new Partitions(all);
      const options = { client: partitions.client, tableName: "t", pageSize, heads: true, signal };
      const readers = ["p0", "p1", "p2"].map((value) => {
        const range = { partition: { index: "i", attribute: "a", value }, from: atOrAfter(0), to: atOrAfter(Infinity) };
        return new PartitionReader(range, options);
      });
      const taken = new Map<string, number>();
      const keys: string[] = [];
      for await (const { order_key: key, partition } of inOrder(readers)) {
        keys.push(key?.S ?? "");
        const name = partition?.S ?? "";
        taken.set(name, (taken.get(name) ?? 0) + 1);
        for (const [other, served] of partitions.served)
          expect(served - (taken.get(other) ?? 0)).toBeLessThanOrEqual(1.5 * pageSize);
      }
      expect(keys).toEqual(all.map(({ key }) => key).toSorted());
    }),
    { numRuns: 200 },
  );
});

test("spec 4.3: a page at offset 100,000 skips by keys, at most 1,000 a request", async () => {
  const random = systemRandom();
  const entries = Array.from({ length: 100_300 }, (_, i) => {
    const id = random.id();
    const category = i % 3 === 0 ? "transient" : "rejected";
    return { partition: shardsOf(id, category, "r").category_shard.S, key: orderKey(i, id) };
  });
  const partitions = new Partitions(entries);
  const index = new EntryIndex(partitions.client, "t", () => 0);
  const page = await index.page({}, { limit: 201, offset: 100_000 }, signal);
  expect(page.map(({ order_key: key }) => key?.S)).toEqual(entries.slice(100_000, 100_201).map(({ key }) => key));
  expect(Math.max(...partitions.asked.map(({ Limit = 0 }) => Limit))).toBeLessThanOrEqual(1_000);
  const withHeads = partitions.asked.filter(({ ProjectionExpression }) => ProjectionExpression === undefined);
  expect(withHeads).toHaveLength(20);
});

test("order keys sort by time, then by id; bounds lie between them", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), hex, hex, (one, other, id, another) => {
      const [a, b] = [Math.min(one, 8.64e15), Math.min(other, 8.64e15)];
      expect(Math.sign(a - b) || compare(id, another)).toBe(compare(orderKey(a, id), orderKey(b, another)));
      expect(orderKey(a, id) >= atOrAfter(b)).toBe(a >= b);
      expect(justAfter(orderKey(a, id)) > orderKey(a, id)).toBe(true);
      expect(orderKey(b, another) >= justAfter(orderKey(a, id))).toBe(orderKey(b, another) > orderKey(a, id));
    }),
  );
  expect(atOrAfter(-1)).toBe(atOrAfter(0));
  expect(atOrAfter(0.5)).toBe(atOrAfter(1));
  expect(orderKey(8.64e15, "z") < atOrAfter(Infinity)).toBe(true);
});

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
