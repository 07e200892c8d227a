import type { OutboxPlace, OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { PostgresClient } from "../../src/client/postgres-client.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, PLACE, recordOf } from "./support/records.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("news of new records", () => {
  let tables: TestTables;
  let one: OutboxStore;
  let other: OutboxStore;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());
  beforeEach(async () => {
    await tables.empty();
    [one, other] = [await openOn(tables.connection), await openOn(tables.connection)];
  });
  afterEach(async () => void (await Promise.all([one, other].map((store) => store[Symbol.asyncDispose]()))));

  /** Counts what a store is told of a place, from the time on when it hears. */
  async function heard(store: OutboxStore, place: OutboxPlace = PLACE, hears = false) {
    let news = 0;
    const listening = store.onArrival?.(place, () => void news++);
    // When it begins to hear, it says so: something may have been missed.
    if (!hears) await expect.poll(() => news, { timeout: 30_000 }).toBe(1);
    const before = news;
    return { count: () => news - before, [Symbol.dispose]: () => listening?.[Symbol.dispose]() };
  }

  /** Persists until somebody has heard of it: who has just begun to listen is not known yet. Resolves to how much. */
  async function untilHeard(news: { count(): number }): Promise<number> {
    let persisted = 0;
    await expect
      .poll(
        async () => {
          await one.persist([recordOf(`${persisted++}`)], signal);
          return news.count();
        },
        { timeout: 30_000, interval: 20 },
      )
      .toBeGreaterThan(0);
    return persisted;
  }

  test("another instance hears of them, and finds them", async () => {
    using _ = await heard(one);
    using news = await heard(other);
    const persisted = await untilHeard(news);
    expect(await claimAll(other, signal)).toHaveLength(persisted);
  });

  test("only those hear of them that have to do with their route and binding, and never who has persisted them", async () => {
    using own = await heard(one);
    using news = await heard(other);
    using none = await heard(other, { ...PLACE, bindingId: "another" }, true);
    await untilHeard(news);
    expect([own.count(), none.count()]).toEqual([0, 0]);
  });

  test("who has stopped listening hears nothing", async () => {
    using _ = await heard(one);
    const stopped = await heard(other);
    using news = await heard(other, PLACE, true);
    stopped[Symbol.dispose]();
    await untilHeard(news);
    expect(stopped.count()).toBe(0);
  });

  test("many are told of together", async () => {
    using _ = await heard(one);
    using news = await heard(other);
    await untilHeard(news);
    const before = news.count();
    for (let i = 0; i < 100; i++) await one.persist([recordOf(`many-${i}`)], signal);
    await expect.poll(() => news.count(), { timeout: 30_000 }).toBeGreaterThan(before);
    expect(news.count() - before).toBeLessThan(50);
  });

  test("whoever is alone tells nothing but that it has begun to listen", async () => {
    using query = vi.spyOn(PostgresClient.prototype, "query");
    using _ = await heard(one);
    for (let i = 0; i < 10; i++) await one.persist([recordOf(`${i}`)], signal);
    const told = query.mock.calls.filter(([{ what }]) => what === "telling of new records");
    expect(told.length).toBeLessThanOrEqual(1);
  });
});
