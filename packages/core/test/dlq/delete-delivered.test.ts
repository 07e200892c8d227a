import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetter, type DlqAdmin, type DlqStore } from "@bridge/ports";
import { SpoiledDeadLetter } from "@bridge/ports/internal";
import { describe, expect, test } from "vitest";
import { deleteDelivered, deletePatiently } from "../../src/dlq/delete-delivered.ts";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { entryOf, stored } from "../dlq-job/job-bridge.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

/** A store that a test can refuse deletes for, and that shows what it was asked to delete. */
async function storeOf(entries: readonly DeadLetter[], refused: () => Error | undefined = () => undefined) {
  const inner = openMemoryDlq({ maxEntries: 1_000 });
  for (const entry of entries) await inner.put(entry, bound());
  const asked: (readonly string[])[] = [];
  const store: DlqStore & { readonly admin: DlqAdmin } = {
    ...inner,
    admin: {
      ...inner.admin,
      delete: async (ids, signal) => {
        asked.push(ids);
        const error = refused();
        if (error !== undefined) throw error;
        return inner.admin.delete(ids, signal);
      },
    },
  };
  return { store, asked };
}

const full = () => new BridgeError("UNAVAILABLE", "the disk does not keep up", { charged: false });

describe("deleting an entry that is delivered", () => {
  test("waits for a store that takes no more writes for the moment, 100 ms between two tries", async () => {
    const clock = new FakeClock();
    let refusals = 3;
    const { store, asked } = await storeOf([entryOf(1)], () => (refusals-- > 0 ? full() : undefined));
    const deleted = deletePatiently({ store, clock }, "e00001", bound());
    await clock.advance(299);
    expect(asked).toHaveLength(3);
    await clock.advance(1);
    expect([await deleted, asked]).toEqual([new Set(["e00001"]), Array.from({ length: 4 }, () => ["e00001"])]);
  });

  test.each([
    ["it is away", new BridgeError("UNAVAILABLE", "disk gone")],
    ["it refuses, though nobody is charged for it", new BridgeError("REJECTED", "read only", { charged: false })],
    ["it breaks", new Error("no such table")],
  ])("does not wait for a store that will not do it: %s", async (_, error) => {
    const { store, asked } = await storeOf([entryOf(1)], () => error);
    await expect(deletePatiently({ store, clock: new FakeClock() }, "e00001", bound())).rejects.toBe(error);
    expect(asked).toHaveLength(1);
  });

  test("says at its bound what the store said, and asks no more", async () => {
    const { store, asked } = await storeOf([entryOf(1)], full);
    const clock = new FakeClock();
    const stop = new AbortController();
    const deleted = deletePatiently({ store, clock }, "e00001", stop.signal);
    await turn();
    stop.abort(new Error("5 s are over"));
    await expect(deleted).rejects.toThrow("the disk does not keep up");
    expect([asked.length, clock.pending]).toEqual([1, 0]);
  });
});

describe("finding 2: deleting what was delivered and could not be deleted", () => {
  const remembered = (entries: readonly DeadLetter[]): DeliveredEntries => {
    const delivered = new DeliveredEntries();
    for (const entry of entries) delivered.add(entry);
    return delivered;
  };

  test("is done a hundred at a time, and all of it is forgotten", async () => {
    const entries = Array.from({ length: 250 }, (_, nth) => entryOf(nth));
    const { store, asked } = await storeOf(entries);
    const delivered = remembered(entries);
    const gone = await deleteDelivered({ store, delivered, ids: delivered.ids }, bound());
    expect([gone.size, delivered.size, await stored(store)]).toEqual([250, 0, []]);
    expect(asked.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  test("leaves other failures under their ids, and of what is gone already asks for what the trash has", async () => {
    const [deleted, there, failedAgain] = [entryOf(1), entryOf(2), entryOf(3)];
    const { store, asked } = await storeOf([there, { ...failedAgain, failedAt: 77 }]);
    const delivered = remembered([deleted, there, failedAgain]);
    const gone = await deleteDelivered({ store, delivered, ids: delivered.ids }, bound());
    expect(gone).toEqual(new Set(["e00001", "e00002", "e00003"]));
    expect([asked, await stored(store), delivered.size]).toEqual([[["e00001", "e00002"]], ["e00003"], 0]);
  });

  test("asks a store to delete nothing when under every id is another failure", async () => {
    const { store, asked } = await storeOf([{ ...entryOf(1), failedAt: 77 }]);
    const delivered = remembered([entryOf(1)]);
    await deleteDelivered({ store, delivered, ids: delivered.ids }, bound());
    expect([asked, delivered.size]).toEqual([[], 0]);
  });

  test("leaves what is not as it was written, and deletes the others", async () => {
    const entries = Array.from({ length: 3 }, (_, nth) => entryOf(nth));
    const { store } = await storeOf(entries);
    const delivered = remembered(entries);
    const spoiled = new SpoiledDeadLetter("e00001");
    const get: DlqStore["get"] = (id, signal) => (id === "e00001" ? Promise.reject(spoiled) : store.get(id, signal));
    const gone = await deleteDelivered({ store: { ...store, get }, delivered, ids: delivered.ids }, bound());
    expect([gone.size, delivered.size, await stored(store)]).toEqual([3, 0, ["e00001"]]);
  });

  test("remembers what the store does not delete", async () => {
    const entries = Array.from({ length: 150 }, (_, nth) => entryOf(nth));
    let calls = 0;
    const { store } = await storeOf(entries, () => (calls++ === 0 ? undefined : full()));
    const delivered = remembered(entries);
    const gone = await deleteDelivered({ store, delivered, ids: delivered.ids }, bound());
    expect([gone.size, delivered.size, (await stored(store)).length]).toEqual([100, 50, 50]);
  });
});
