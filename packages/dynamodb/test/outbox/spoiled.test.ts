import { HandClock } from "@bridge/conformance";
import { type LogFields, silentLogger } from "@bridge/ports";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { changeGroups, changeRecord, makeTable, openOn } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf } from "./support/records.ts";

const { signal } = new AbortController();
let dynamo: TestDynamo;
beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());

const NOW = (value: string) => ({ ":now": { S: value } });

/** A table with the records `0` to `4`, of which the second is changed while nobody has it open. */
async function changedTable(change: string, values?: Parameters<typeof changeRecord>[4]): Promise<string> {
  const table = await makeTable(dynamo);
  {
    await using store = await openOn(dynamo, table);
    const fields = { received: recordOf("x").envelope, entryId: "entry", orderingKey: "key" };
    await store.persist(
      Array.from({ length: 5 }, (_, i) => recordOf(String(i), fields)),
      signal,
    );
  }
  await changeRecord(dynamo, table, "record-1", change, values);
  return table;
}

test.each([
  ["payload is gone", "REMOVE payload", undefined],
  ["payload is another", "SET payload = :now", { ":now": { B: Buffer.from("other") } }],
  ["received payload is another", "SET received_payload = :now", { ":now": { B: Buffer.from("other") } }],
  ["payload is a text", "SET payload = :now", NOW("text")],
  ["envelope cannot be read", "SET envelope = :now", NOW("{garbage")],
  ["envelope is a list of something else", "SET envelope = :now", NOW("[1,2]")],
  ["envelope is null", "SET envelope = :now", NOW("null")],
  ["received envelope is gone", "REMOVE received", undefined],
  ["address is another", "SET address = :now", NOW("orders/8")],
  ["ordering key is another", "SET ordering_key = :now", NOW("other")],
  ["ordering key is gone", "REMOVE ordering_key", undefined],
  ["dead letter is another", "SET entry_id = :now", NOW("other")],
  ["digest is another", "SET digest = :now", NOW("other")],
  ["id is another", "SET id = :now", NOW("record-9")],
  ["binding is another", "SET binding = :now", NOW("other")],
  ["time is no number", "SET created_at = :now", NOW("never")],
  ["revision is gone", "REMOVE revision", undefined],
  ["revision is a text", "SET revision = :now", NOW("x")],
  ["revision is beyond counting", "SET revision = :now", { ":now": { N: "9007199254740993" } }],
  ["status is gone", "REMOVE #status", undefined],
  ["status is a number", "SET #status = :now", { ":now": { N: "1" } }],
  ["status is none that there is", "SET #status = :now", NOW("delivered")],
  ["status says that it ended, but not when", "SET #status = :now", NOW("done")],
  ["seal is gone", "REMOVE seal", undefined],
])(
  "a record whose %s is kept, told with its id and never lent; all others of its key are",
  async (_, change, values) => {
    const table = await changedTable(change, values);
    const errors: [string, LogFields | undefined][] = [];
    const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
    await using store = await openOn(dynamo, table, { logger });
    const claims = await claimAll(store, signal);
    expect(idsOf(claims)).toEqual(["record-0", "record-2", "record-3", "record-4"]);
    await store.finish(claims.map(done), signal);
    expect(errors.map(([line, fields]) => `${line}: ${String(fields?.["record_id"])}`)).toEqual([
      expect.stringMatching(/is kept, and not sent: record-[19]$/),
    ]);
    expect(store.health?.()).toMatchObject({ setAside: [], spoiled: 1 });
    expect(await store.backlog(signal)).toMatchObject([{ depth: 1 }]);
    expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(1);
  },
);

test.each([
  ["payload is another", "SET payload = :now", { ":now": { B: Buffer.from("other") } }],
  ["revision is a text", "SET revision = :now", NOW("x")],
  ["revision is gone", "REMOVE revision", undefined],
  ["status is a number", "SET #status = :now", { ":now": { N: "1" } }],
])(
  "a record whose %s is ended as dead once an operator acknowledges it, and its item keeps the rest",
  async (_, change, values) => {
    const table = await changedTable(change, values);
    await using store = await openOn(dynamo, table);
    await expect(store.claimOne("record-1", 1_000, signal)).rejects.toThrow(
      /record "record-1" .* is not as it was written/,
    );
    expect(store.acknowledgeDamage?.()).toEqual(["record-1"]);
    await vi.waitFor(() => expect(store.health?.().spoiled).toBeUndefined(), PATIENCE);
    expect(await store.status("record-1", signal)).toBe("dead");
    expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(4);
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-0", "record-2", "record-3", "record-4"]);
  },
);

test("a record without the name of a dead letter, and one with half a surrogate pair in its address, are as they were written", async () => {
  const table = await makeTable(dynamo);
  {
    await using store = await openOn(dynamo, table);
    await store.persist([recordOf("0", { entryId: "" }), recordOf("1", { address: "a\ud800b" })], signal);
  }
  await using store = await openOn(dynamo, table);
  expect(idsOf(await claimAll(store, signal)).toSorted()).toEqual(["record-0", "record-1"]);
});

test.each([
  ["says when it was finished", "SET finished_at = :now", { ":now": { N: "1" } }],
  [
    "waits for 30,000 years",
    "SET held_by = :by, held_ms = :ms",
    { ":by": { S: "x" }, ":ms": { N: "946080000000000" } },
  ],
  [
    "is on loan for a year",
    "SET held_by = :by, held_ms = :ms, #token = :by",
    { ":by": { S: "x" }, ":ms": { N: "31536000000" } },
  ],
])("a waiting record that %s, because somebody has written so, is lent like any other", async (_, change, values) => {
  const table = await changedTable(change, values);
  await using store = await openOn(dynamo, table);
  const names = ["record-0", "record-1", "record-2", "record-3", "record-4"];
  expect(idsOf(await claimAll(store, signal))).toEqual(names);
});

test("a loan of one's own that somebody has made endless ends when it was to end", async () => {
  const table = await makeTable(dynamo);
  const clock = new HandClock(5_000, 1_767_225_600_000);
  await using store = await openOn(dynamo, table, { clock });
  await store.persist([recordOf("1")], signal);
  await claimAll(store, signal);
  const endless = { ":until": { N: "9007199254740991" } };
  await changeRecord(dynamo, table, "record-1", "SET held_until = :until", endless);
  await using other = await openOn(dynamo, table, { clock });
  expect(idsOf(await claimAll(other, signal))).toEqual([]);
  clock.pass(60_000);
  expect(idsOf(await claimAll(other, signal))).toEqual(["record-1"]);
});

test("a message whose earlier record has lost its revision is persisted again once that one counts no more", async () => {
  const table = await makeTable(dynamo);
  await using store = await openOn(dynamo, table, { retentionMs: 0 });
  await store.persist([recordOf("1")], signal);
  await store.finish((await claimAll(store, signal)).map(done), signal);
  await changeRecord(dynamo, table, "record-1", "SET revision = :now", NOW("x"));
  const bound = AbortSignal.timeout(PATIENCE.timeout);
  expect(await store.persist([recordOf("1", { id: "record-2" })], bound)).toEqual([{ kind: "persisted" }]);
});

test("a group whose state somebody has changed hides none of its records", async () => {
  const table = await changedTable("SET extra = :now", NOW("none"));
  await changeGroups(dynamo, table, "anything");
  await using store = await openOn(dynamo, table);
  expect(idsOf(await claimAll(store, signal))).toHaveLength(5);
});
