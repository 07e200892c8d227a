import { deadLetter } from "@bridge/conformance";
import { BridgeError, deadLetterHead, type FacetKey, type FacetsRequest, systemClock } from "@bridge/ports";
import { FacetTally } from "@bridge/ports/internal";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { PostgresClient } from "../../src/client/postgres-client.ts";
import type { Answer, Statement } from "../../src/client/statement.ts";
import type { PostgresDlq } from "../../src/dlq/open-postgres-dlq.ts";
import { makeTables, openDlq, rowsOf } from "./support/dlq.ts";

const { signal } = new AbortController();
const EPOCH = 1_767_225_600_000;
const BY: readonly FacetKey[][] = [["routeId", "errorCode"], ["fingerprint"], ["category", "bindingId"], ["assignee"]];
const asked = (more: Partial<FacetsRequest> = {}): FacetsRequest => ({
  query: {},
  by: ["routeId"],
  maxGroups: 200,
  buckets: 0,
  ...more,
});

type Query = (this: PostgresClient, statement: Statement, signal: AbortSignal) => Promise<Answer<object>>;

/** Counting by groups takes longer than it may. */
function slowly(onCount: () => void): Disposable {
  const query = Reflect.get(PostgresClient.prototype, "query") as Query;
  const spy = vi.spyOn(PostgresClient.prototype, "query").mockImplementation(function (
    this: PostgresClient,
    asks,
    end,
  ) {
    if (asks.mayBeLate !== true) return query.call(this, asks, end);
    onCount();
    return query.call(this, { ...asks, text: "SELECT pg_sleep(60)", values: [] }, end);
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}

describe.skipIf(noPostgres)("operators 2: failed messages in groups on PostgreSQL", () => {
  let schema: TestSchema;
  let store: PostgresDlq;
  const entries = (): string => `${schema.connection.schema}.dead_letters`;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    store = await openDlq(schema.connection, { facetsKeptMs: 0 });
  });
  beforeEach(() => schema.rows(`TRUNCATE ${entries()}`));
  afterAll(async () => {
    for (const part of [store, schema]) await part[Symbol.asyncDispose]();
  });

  test("are what going through all entries comes to, by whatever they are grouped", async () => {
    const all = Array.from({ length: 40 }, (_, i) =>
      deadLetter(`e${i + 10}`, {
        failedAt: EPOCH + i * i * 60_000,
        routeId: `r${i % 3}`,
        bindingId: i % 5 === 0 ? "" : `b${i % 2}`,
        category: i % 4 === 0 ? "transient" : "permanent",
        errorCode: i % 4 === 0 ? "UNAVAILABLE" : "FORBIDDEN",
        lastError: `${i % 2 === 0 ? "late" : "refused"} after ${i} ms`,
      }),
    );
    await Promise.all(all.map((entry) => store.put(entry, signal)));
    for (const query of [
      {},
      { routeId: "r1" },
      { bindingId: "", errorCode: "FORBIDDEN" as const },
      { subjectPrefix: "s" },
    ]) {
      for (const by of BY) {
        const request = asked({ query, by, maxGroups: 3, buckets: 7 });
        const tally = new FacetTally(request);
        for (const head of all.map(deadLetterHead)) {
          const isWanted =
            head.routeId === (query.routeId ?? head.routeId) &&
            (query.bindingId === undefined || (head.bindingId === "" && head.errorCode === "FORBIDDEN"));
          const { failedAt } = head;
          if (isWanted) tally.add(head, { count: 1, oldestFailedAt: failedAt, newestFailedAt: failedAt });
        }
        expect(await store.facets(request, signal)).toEqual({
          ...tally.facets(true, (head) => head as never),
          asOf: expect.any(Number) as number,
        });
      }
    }
    expect(await store.facets(asked({ query: { routeId: "\u0000" } }), signal)).toMatchObject({ total: 0, groups: [] });
  });

  test("count entries that somebody has given any time, and damaged", async () => {
    for (const id of ["a", "b", "c", "d"]) await store.put(deadLetter(id, { failedAt: EPOCH }), signal);
    await schema.rows(`UPDATE ${entries()} SET failed_at = 9223372036854775807, head = '{' WHERE id = 'a'`);
    await schema.rows(`UPDATE ${entries()} SET failed_at = -9223372036854775808, marks = '{' WHERE id = 'b'`);
    for (const by of BY) {
      const facets = await store.facets(asked({ by, buckets: 10 }), signal);
      expect(facets.total).toBe(4);
      expect(facets.histogram?.counts.reduce((sum, count) => sum + count)).toBe(4);
    }
  });

  test("that cannot be counted in time are those of the newest 20,000, which is no fault, and not tried again for a minute", async () => {
    const { failedAt: _, ...head } = deadLetterHead(deadLetter("any", { bindingId: "b" }));
    const text = `'{"failedAt":' || n || ',${JSON.stringify(head).slice(1)}'`;
    await schema.rows(rowsOf(entries(), { head: text }, 20_100));
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    await using hurried = await openDlq(schema.connection, { facetsKeptMs: 0, clock, tryTimeoutMs: 1_000 });
    let counts = 0;
    using slow = slowly(() => counts++);
    const newest = { total: 20_000, exact: false, counted: 20_000, newestFailedAt: 20_100, oldestFailedAt: 101 };
    expect(await hurried.facets(asked(), signal)).toMatchObject(newest);
    expect(hurried.health?.().fault).toBeUndefined();
    now = 59_999;
    expect(await hurried.facets(asked({ query: { bindingId: "b" } }), signal)).toMatchObject(newest);
    expect(await hurried.facets(asked({ query: { bindingId: "x" } }), signal)).toMatchObject({
      total: 0,
      exact: false,
      counted: 20_000,
    });
    expect(counts).toBe(1);
    now = 60_000;
    await hurried.facets(asked(), signal);
    expect(counts).toBe(2);
    slow[Symbol.dispose]();
    now = 120_000;
    expect(await hurried.facets(asked(), signal)).toMatchObject({ total: 20_100, exact: true });
  });

  test("are all counted again as soon as a line that stood still lets anything through", async () => {
    await store.put(deadLetter("a"), signal);
    const query = Reflect.get(PostgresClient.prototype, "query") as Query;
    let isFrozen = true;
    const asksOf: boolean[] = [];
    using _ = vi.spyOn(PostgresClient.prototype, "query").mockImplementation(function (
      this: PostgresClient,
      asks,
      end,
    ) {
      asksOf.push(asks.mayBeLate === true);
      return isFrozen ? Promise.reject(new BridgeError("TIMEOUT", "no answer in time")) : query.call(this, asks, end);
    });
    await expect(store.facets(asked(), signal)).rejects.toMatchObject({ code: "TIMEOUT" });
    isFrozen = false;
    expect(await store.facets(asked(), signal)).toMatchObject({ total: 1, exact: true });
    expect(asksOf).toEqual([true, false, true]);
  });

  test("are counted once for all who ask within some seconds", async () => {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    await using kept = await openDlq(schema.connection, { clock });
    await store.put(deadLetter("a"), signal);
    const all = await Promise.all(Array.from({ length: 20 }, () => kept.facets(asked(), signal)));
    expect(new Set(all).size).toBe(1);
    await store.put(deadLetter("b"), signal);
    now = 4_999;
    expect(await kept.facets(asked(), signal)).toBe(all[0]);
    expect((await kept.facets(asked({ query: { routeId: "route" } }), signal)).total).toBe(2);
    now = 5_000;
    expect((await kept.facets(asked(), signal)).total).toBe(2);
  });
});
