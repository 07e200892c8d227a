import { HandClock } from "@bridge/conformance";
import type { OutboxPlace, OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, PLACE, recordOf } from "./support/records.ts";

const signal = AbortSignal.timeout(60_000);

describe.skipIf(noPostgres)("news of new records", () => {
  let tables: TestTables;
  let one: OutboxStore;
  let other: OutboxStore;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());
  beforeEach(async () => {
    await tables.empty();
    // Two machines; the first one knows of the second when it looks.
    [one, other] = [
      await openOn(tables.connection, { clock: new HandClock(0, Date.now()) }),
      await openOn(tables.connection, { clock: new HandClock(1_000_000, Date.now()) }),
    ];
    await claimAll(other, signal);
    await claimAll(one, signal);
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

  test("another instance hears of them, and finds them", async () => {
    using news = await heard(other);
    await one.persist([recordOf("a")], signal);
    await expect.poll(() => news.count(), { timeout: 30_000 }).toBe(1);
    expect(await claimAll(other, signal)).toHaveLength(1);
  });

  test("only those hear of them that have to do with their route and binding, and never who has persisted them", async () => {
    await other.claim({ ...PLACE, bindingId: "another", limit: 1, loanMs: 1 }, signal);
    using own = await heard(one);
    using news = await heard(other);
    using none = await heard(other, { ...PLACE, bindingId: "another" }, true);
    await one.persist([recordOf("a")], signal);
    await expect.poll(() => news.count(), { timeout: 30_000 }).toBe(1);
    expect([own.count(), none.count()]).toEqual([0, 0]);
  });

  test("who has stopped listening hears nothing", async () => {
    const stopped = await heard(other);
    using news = await heard(other, PLACE, true);
    stopped[Symbol.dispose]();
    await one.persist([recordOf("a")], signal);
    await expect.poll(() => news.count(), { timeout: 30_000 }).toBeGreaterThan(0);
    expect(stopped.count()).toBe(0);
  });

  test("many are told of together", async () => {
    using news = await heard(other);
    for (let i = 0; i < 100; i++) await one.persist([recordOf(`${i}`)], signal);
    await expect.poll(() => news.count(), { timeout: 30_000 }).toBeGreaterThan(0);
    expect(news.count()).toBeLessThan(50);
  });
});
