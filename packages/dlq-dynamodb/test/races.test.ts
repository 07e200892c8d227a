import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

const { signal } = new AbortController();
const TWENTY = Array.from({ length: 20 }, (_, i) => i);

type Store = Awaited<ReturnType<typeof openDlq>>;

/** Runs a test with two instances on one table; `racer` is one or the other in turn. */
async function race(run: (one: Store, other: Store, racer: (i: number) => Store) => Promise<void>): Promise<void> {
  const table = await makeTable(dynamo);
  await using one = await openDlq(dynamo, table);
  await using other = await openDlq(dynamo, table);
  await run(one, other, (i) => (i % 2 === 0 ? one : other));
}

test("of 20 writers of one id, all are told that it is stored, and one entry is, whole", async () =>
  race(async (one, other, racer) => {
    const entries = TWENTY.map((i) =>
      deadLetter("a", {
        reason: `writer ${i}`,
        routeId: `r${i}`,
        envelope: { payload: new Uint8Array(5_000).fill(i) },
      }),
    );
    await Promise.all(entries.map((entry, i) => racer(i).put(entry, signal)));
    const kept = await one.get("a", signal);
    expect(kept).toEqual(entries.find(({ reason }) => reason === kept?.reason));
    expect(await other.list({}, { limit: 100, offset: 0 }, signal)).toHaveLength(1);
  }));

test("of 20 that delete the same entries, one is told of each, also when answers are lost", async () =>
  race(async (one, _, racer) => {
    const ids = ["a", "b", "c", "d", "e"];
    await Promise.all(ids.map((id) => one.put(deadLetter(id), signal)));
    let updates = 0;
    const faults = [undefined, "lose-answer", "cut", undefined, { error: "ThrottlingException" }] as const;
    dynamo.choose = (operation) => (operation === "UpdateItem" ? faults[updates++ % faults.length] : undefined);
    const told = await Promise.all(TWENTY.map((i) => racer(i).admin.delete(ids, signal)));
    expect(told.flatMap((gone) => [...gone]).toSorted()).toEqual(ids.toSorted());
  }));

test("of 20 that purge, each entry is counted once", async () =>
  race(async (one, other, racer) => {
    const entries = Array.from({ length: 10 }, (_, i) => deadLetter(`id-${i}`, { failedAt: i }));
    await Promise.all(entries.map((entry) => one.put(entry, signal)));
    const counts = await Promise.all(
      TWENTY.map((i) => racer(i).admin.deleteWhere({ category: "permanent" }, undefined, signal)),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(10);
    expect(await other.count(1, signal)).toBe(0);
  }));

test("what the index still shows and somebody has deleted does not count, and the limit is filled with others", async () =>
  race(async (one, other) => {
    const entries = Array.from({ length: 10 }, (_, i) => deadLetter(`id-${i}`, { failedAt: i }));
    await Promise.all(entries.map((entry) => one.put(entry, signal)));
    let overtaken = false;
    dynamo.beforeAnswer = async (operation) => {
      if (operation !== "Query" || overtaken) return;
      overtaken = true;
      await other.admin.delete(["id-0", "id-2"], signal);
    };
    // The index is read as it was before those two were deleted only for the partition that was asked first.
    expect(await one.admin.deleteWhere({}, 4, signal)).toBe(4);
    dynamo.reset();
    const left = await one.list({}, { limit: 100, offset: 0 }, signal);
    expect(left.map(({ id }) => id)).toEqual(["id-6", "id-7", "id-8", "id-9"]);
  }));

test("while the index lags, lists do too, but nothing is deleted or counted twice, and a purge ends", async () =>
  race(async (one) => {
    const all = { limit: 100, offset: 0 };
    await Promise.all(TWENTY.map((i) => one.put(deadLetter(`id-${i}`, { failedAt: i }), signal)));
    expect(await one.list({}, all, signal)).toHaveLength(20);
    expect(await one.admin.deleteWhere({}, 20, signal)).toBe(20);
    await one.put(deadLetter("new", { failedAt: 100 }), signal);

    dynamo.staleIndexes = true;
    expect(await one.list({}, all, signal)).toHaveLength(20);
    expect(await one.admin.deleteWhere({}, 20, signal)).toBe(0);
    expect(await one.get("id-0", signal)).toBeUndefined();
    expect(await one.get("new", signal)).toBeDefined();

    dynamo.staleIndexes = false;
    expect(await one.list({}, all, signal)).toMatchObject([{ id: "new" }]);
  }));
