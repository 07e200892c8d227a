import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "@bridge/dynamodb";
import { systemClock } from "@bridge/ports";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq, SEAMS } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const { signal } = new AbortController();
const HOUR = 3_600_000;
const MIB = 1_048_576;
const IDS = Array.from({ length: 12 }, (_, i) => `id-${i}`);
const later = (): number => Date.now() + HOUR;

test("operators 1.5: of 20 that move, delete and bring back the same entries, one is told of each, also when answers are lost", async () => {
  const table = await makeTable(dynamo);
  await using one = await openDlq(dynamo, table);
  await using other = await openDlq(dynamo, table);
  const racer = (i: number) => (i % 2 === 0 ? one : other);
  await Promise.all(IDS.map((id) => one.put(deadLetter(id), signal)));
  let updates = 0;
  const faults = [undefined, "lose-answer", "cut", undefined, { error: "ThrottlingException" }] as const;
  dynamo.choose = (operation) => (operation === "UpdateItem" ? faults[updates++ % faults.length] : undefined);
  const told = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i < 15 ? racer(i).admin.trash.move(IDS, "batch", later(), signal) : racer(i).admin.delete(IDS, signal),
    ),
  );
  expect(told.flatMap((gone) => [...gone]).toSorted()).toEqual(IDS.toSorted());
  const moved = told.slice(0, 15).reduce((sum, { size }) => sum + size, 0);
  expect(await one.admin.trash.count(100, signal)).toBe(moved);
  const restored = await Promise.all(IDS.map((_, i) => racer(i).admin.trash.restore("batch", 3, signal)));
  const rest = await one.admin.trash.restore("batch", 100, signal);
  expect(restored.reduce((sum, { restored: count }) => sum + count, rest.restored)).toBe(moved);
  expect(await one.admin.trash.count(100, signal)).toBe(0);
  dynamo.reset();
  expect(await one.count(100, signal)).toBe(moved);
});

test.each<DynamoFault>([{ error: "InternalServerError", status: 500 }, "cut", "lose-answer", "empty"])(
  "operators 1.5: an entry is moved and brought back once, and told, through %j",
  async (fault) => {
    await using store = await openDlq(dynamo, await makeTable(dynamo));
    await store.put(deadLetter("a"), signal);
    for (const operation of ["UpdateItem", "Query", "GetItem"]) dynamo.inject(operation, fault, 2);
    expect(await store.admin.trash.move(["a"], "batch", later(), signal)).toEqual(new Set(["a"]));
    for (const operation of ["UpdateItem", "Query", "GetItem"]) dynamo.inject(operation, fault, 2);
    expect(await store.admin.trash.restore("batch", 10, signal)).toEqual({ restored: 1, present: 0 });
    expect(await store.get("a", signal)).toEqual(deadLetter("a"));
  },
);

test.each([undefined, 240 * HOUR])(
  "operators 1.5: parts of a large entry live as long as it can come back, then as before (retention %s)",
  async (retentionMs) => {
    const table = await makeTable(dynamo);
    await using store = await openDlq(dynamo, table, { retentionMs });
    await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
    const entry = deadLetter("a", { failedAt: Date.now(), envelope: { payload: new Uint8Array(MIB).fill(7) } });
    const ends = async () => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table }), signal);
      return Items.filter(({ part }) => part !== undefined).map(({ expires_at: at }) => at?.N);
    };
    await store.put(entry, signal);
    const before = await ends();
    expect(before).toHaveLength(3);
    const until = later();
    await store.admin.trash.move(["a"], "batch", until, signal);
    expect(await ends()).toEqual(before.map(() => String(Math.ceil((until + 24 * HOUR) / 1_000))));
    expect(await store.admin.trash.restore("batch", 10, signal)).toEqual({ restored: 1, present: 0 });
    expect(await ends()).toEqual(before);
    const back = await store.get("a", signal);
    expect(Buffer.from(back?.envelope.payload ?? []).equals(entry.envelope.payload)).toBe(true);
  },
);

test("operators 1.5: the service is told when it may remove what is in the trash, and after it came back what was before", async () => {
  const table = await makeTable(dynamo);
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  for (const retentionMs of [undefined, HOUR]) {
    await using store = await openDlq(dynamo, table, { retentionMs });
    const failedAt = Date.now();
    const itemOf = async () => (await client.send(new ScanCommand({ TableName: table }), signal)).Items?.[0];
    await store.put(deadLetter("a", { failedAt }), signal);
    const before = await itemOf();
    const until = later() + HOUR;
    await store.admin.trash.move(["a"], "batch", until, signal);
    // An undo that is held up may come later.
    expect((await itemOf())?.["expires_at"]?.N).toBe(String(Math.ceil((until + 24 * HOUR) / 1_000)));
    await store.admin.trash.restore("batch", 10, signal);
    const { restored_by: _, restored_from: ___, content_parts: __, ...after } = (await itemOf()) ?? {};
    expect(after).toEqual(before);
    await store.admin.delete(["a"], signal);
  }
});

test("operators 12.18: what is over its time is there for nobody, long before the service removes it", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  for (const id of ["a", "b"]) await store.put(deadLetter(id), signal);
  const now = Date.now();
  await store.admin.trash.move(["a"], "x/y", now + HOUR, signal);
  await store.admin.trash.move(["b"], "x/y", now + 3 * HOUR, signal);
  expect(await store.admin.trash.restore("x", 10, signal)).toEqual({ restored: 0, present: 0 });
  dynamo.ahead = 2 * HOUR;
  // Its answers tell its time.
  await store.get("a", signal);
  expect(await store.admin.trash.count(10, signal)).toBe(1);
  expect(await store.admin.trash.restore("x/y", 10, signal)).toEqual({ restored: 1, present: 0 });
  expect(await store.get("a", signal)).toBeUndefined();
  expect(await store.get("b", signal)).toEqual(deadLetter("b"));
});

test.each([2 * HOUR, -2 * HOUR])(
  "operators 3.2: the time to undo goes by the service's clock, whatever that of an instance says (%s ms ahead)",
  async (ahead) => {
    const table = await makeTable(dynamo);
    await using one = await openDlq(dynamo, table);
    const clock = { ...systemClock, now: () => Date.now() + ahead };
    await using wrong = await openDlq(dynamo, table, { clock });
    for (const id of ["a", "b", "c"]) await one.put(deadLetter(id), signal);
    await one.admin.trash.move(["a", "b"], "batch", later(), signal);
    expect(await wrong.admin.trash.count(10, signal)).toBe(2);
    // What takes its place keeps it aside.
    await wrong.put(deadLetter("b", { reason: "again" }), signal);
    expect(await wrong.admin.trash.restore("batch", 10, signal)).toEqual({ restored: 1, present: 1 });
    await wrong.admin.trash.move(["c"], "batch", clock.now() + HOUR, signal);
    expect(await one.admin.trash.count(10, signal)).toBe(1);
    dynamo.ahead = 2 * HOUR;
    expect(await one.get("c", signal)).toBeUndefined();
    expect(await one.admin.trash.count(10, signal)).toBe(0);
  },
);

test("operators 1.5: while the index lags, nothing is brought back twice", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  for (const id of IDS) await store.put(deadLetter(id), signal);
  await store.admin.trash.move(IDS, "batch", later(), signal);
  expect(await store.admin.trash.count(100, signal)).toBe(12);
  expect(await store.admin.trash.restore("batch", 5, signal)).toEqual({ restored: 5, present: 0 });
  dynamo.staleIndexes = true;
  expect(await store.admin.trash.restore("batch", 100, signal)).toEqual({
    restored: expect.toSatisfy((count: number) => count <= 7) as number,
    present: 0,
  });
  expect(await store.admin.trash.restore("batch", 100, signal)).toEqual({ restored: 0, present: 0 });
  dynamo.staleIndexes = false;
});

test.each([true, false])(
  "spec 4.10.5: who is killed between keeping what is in the trash and taking its place leaves nothing twice (tried again: %s)",
  async (again) => {
    await using store = await openDlq(dynamo, await makeTable(dynamo));
    const payload = new Uint8Array(MIB).fill(7);
    const entry = deadLetter("a", { envelope: { payload } });
    const note = { at: 1, by: "alice", text: "asked the shop" };
    await store.put(entry, signal);
    await store.marks.mark(new Map([["a", { note }]]), signal);
    await store.admin.trash.move(["a"], "batch", later(), signal);
    let puts = 0;
    // Refused, since something is in the trash; the copy; and what would take its place.
    dynamo.choose = (operation) =>
      operation === "PutItem" && ++puts === 3 ? { error: "ValidationException", status: 400 } : undefined;
    await expect(store.put(deadLetter("a", { reason: "again" }), signal)).rejects.toThrow("ValidationException");
    dynamo.reset();
    if (again) await store.put(deadLetter("a", { reason: "again" }), signal);
    const told = { restored: 0, present: 0 };
    for (let look = 0; look < 3; look++) {
      const { restored, present } = await store.admin.trash.restore("batch", 10, signal);
      told.restored += restored;
      told.present += present;
    }
    expect(told).toEqual(again ? { restored: 0, present: 1 } : { restored: 1, present: 0 });
    expect(await store.admin.trash.count(10, signal)).toBe(0);
    const back = await store.get("a", signal);
    expect(back?.marks).toEqual({ notes: [note] });
    expect(back?.reason).toBe(again ? "again" : entry.reason);
    if (!again) expect(Buffer.from(back?.envelope.payload ?? []).equals(payload)).toBe(true);
  },
);

test("spec 4.10.5: a large entry that was written again and is gone by then comes back with its parts, told once when answers are lost", async () => {
  const table = await makeTable(dynamo);
  await using one = await openDlq(dynamo, table);
  await using other = await openDlq(dynamo, table);
  const payload = new Uint8Array(MIB).fill(7);
  for (const id of IDS) await one.put(deadLetter(id, { envelope: { payload } }), signal);
  await one.admin.trash.move(IDS, "batch", later(), signal);
  for (const id of IDS) await one.put(deadLetter(id), signal);
  await one.admin.delete(IDS.slice(6), signal);
  let calls = 0;
  const faults = [undefined, "lose-answer", "cut", undefined, { error: "ThrottlingException" }] as const;
  dynamo.choose = (operation) =>
    operation === "UpdateItem" || operation === "PutItem" ? faults[calls++ % faults.length] : undefined;
  const told = await Promise.all([one, other, one].map((store) => store.admin.trash.restore("batch", 100, signal)));
  told.push(await one.admin.trash.restore("batch", 100, signal));
  expect(told.reduce((sum, { restored }) => sum + restored, 0)).toBe(6);
  expect(told.reduce((sum, { present }) => sum + present, 0)).toBe(6);
  dynamo.reset();
  expect(await one.admin.trash.count(100, signal)).toBe(0);
  const back = await one.get("id-7", signal);
  expect(Buffer.from(back?.envelope.payload ?? []).equals(payload)).toBe(true);
  expect((await one.get("id-1", signal))?.envelope.payload).toEqual(deadLetter("id-1").envelope.payload);
});
