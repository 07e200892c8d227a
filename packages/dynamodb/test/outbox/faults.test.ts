import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "../../src/client/dynamo-client.ts";
import { type OutboxClaim, type OutboxStore, systemClock, systemRandom } from "@bridge/ports";
import { type DynamoFault, testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HandClock } from "@bridge/conformance";
import { makeTable, openOn } from "./support/outbox.ts";
import { claimAll, done, idsOf, PLACE, recordOf } from "./support/records.ts";

const THROTTLED: DynamoFault = { error: "ProvisionedThroughputExceededException" };
/** Waits between tries are 0. */
const AT_ONCE = { ...systemRandom(), next: () => 0 };
let dynamo: TestDynamo;
let table: string;
let store: OutboxStore;
let gone: AbortController;
let signal: AbortSignal;

beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(async (own) => {
  ({ signal } = own);
  dynamo.reset();
  gone = new AbortController();
  table = await makeTable(dynamo);
  store = await openOn(dynamo, table, { dynamo: { random: AT_ONCE } });
});

/** Ends a call with its n-th update, which the service does not do any more. The first one enters the lane. */
async function killAtUpdate(at: number, call: () => Promise<unknown>): Promise<void> {
  let updates = 0;
  dynamo.choose = (operation) => {
    if (operation !== "UpdateItem" || ++updates < at) return undefined;
    gone.abort(new Error("killed"));
    return "hang";
  };
  await expect(call()).rejects.toThrow("killed");
  dynamo.reset();
}

async function keysIn(name: string): Promise<readonly string[]> {
  await using client = new DynamoClient({ clock: systemClock, random: AT_ONCE, sdk: dynamo.sdk });
  const { Items = [] } = await client.send(new ScanCommand({ TableName: name }), signal);
  return Items.map(({ pk }) => pk?.S?.slice(0, 2) ?? "");
}

describe("what is done and not answered is known for one's own", () => {
  test.each<DynamoFault>(["lose-answer", { error: "InternalServerError", status: 500 }, THROTTLED, "cut", "empty"])(
    "%j",
    async (fault) => {
      const records = [recordOf("a"), recordOf("b", { orderingKey: "key" })];
      dynamo.inject("PutItem", fault, 3);
      dynamo.inject("UpdateItem", fault, 2);
      expect(await store.persist(records, signal)).toEqual([{ kind: "persisted" }, { kind: "persisted" }]);
      dynamo.inject("PutItem", fault);
      expect(await store.persist([recordOf("alone")], signal)).toEqual([{ kind: "persisted" }]);
      dynamo.inject("UpdateItem", fault, 3);
      const claims = await claimAll(store, signal);
      expect(idsOf(claims)).toEqual(["record-a", "record-b", "record-alone"]);
      dynamo.inject("UpdateItem", fault, 3);
      expect(await store.finish(claims.map(done), signal)).toEqual([true, true, true]);
      expect(await store.backlog(signal)).toEqual([]);
    },
  );
});

test("under faults of every kind, two instances deliver each record once, and keys keep their order", async () => {
  const other = await openOn(dynamo, table, { dynamo: { random: AT_ONCE } });
  const faults: readonly DynamoFault[] = [
    THROTTLED,
    "lose-answer",
    "cut",
    { error: "InternalServerError", status: 500 },
  ];
  let requests = 0;
  dynamo.choose = (operation) => {
    requests++;
    if (operation === "BatchGetItem" && requests % 3 === 0) return { atMost: 1 };
    return requests % 5 === 0 ? faults[(requests / 5) % faults.length] : undefined;
  };
  const records = Array.from({ length: 60 }, (_, i) => recordOf(`${i}`, { orderingKey: `key-${i % 6}` }));
  for (let i = 0; i < records.length; i += 10) {
    const results = await (i % 20 === 0 ? store : other).persist(records.slice(i, i + 10), signal);
    expect(results.every(({ kind }) => kind === "persisted")).toBe(true);
  }
  const delivered: string[] = [];
  let sends = 0;
  const drain = async (hands: OutboxStore): Promise<void> => {
    while (delivered.length < records.length) {
      signal.throwIfAborted();
      const failed = new Set<string | undefined>();
      const claims = await claimAll(hands, signal, 9);
      if (claims.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      for (const claim of claims) {
        const { id, orderingKey } = claim.record;
        const fails = failed.has(orderingKey) || ++sends % 7 === 0;
        if (fails) failed.add(orderingKey);
        else delivered.push(id);
        expect(await hands.finish([fails ? again(claim) : done(claim)], signal)).toEqual([true]);
      }
    }
  };
  await Promise.all([drain(store), drain(other)]);
  expect(delivered).toHaveLength(records.length);
  for (let key = 0; key < 6; key++) {
    const own = records.filter((_, i) => i % 6 === key).map(({ id }) => id);
    expect(delivered.filter((id) => own.includes(id))).toEqual(own);
  }
}, 120_000);

test.each([
  ["before the order of the key", 2],
  ["after the order of the key, before the word that makes them visible", 3],
])(
  "a persist that ends halfway (%s) is not there, and comes whole when it is repeated, elsewhere too",
  async (_, at) => {
    const records = Array.from({ length: 5 }, (__, i) => recordOf(`${i}`, { orderingKey: "key" }));
    await killAtUpdate(at, () => store.persist(records, gone.signal));
    await store[Symbol.asyncDispose]();
    const next = await openOn(dynamo, table, { clock: new HandClock(0, Date.now()) });
    expect(await next.list({}, { limit: 10, offset: 0 }, signal)).toEqual([]);
    expect(await claimAll(next, signal)).toEqual([]);
    // In another order, so that what was written of the first one must not count.
    const repeats = records.map((record) => ({ ...record, id: `${record.id}-again` })).toReversed();
    expect(await next.persist(repeats, signal)).toEqual(repeats.map(() => ({ kind: "persisted" })));
    expect(idsOf(await claimAll(next, signal))).toEqual(repeats.map(({ id }) => id));
  },
);

test("what a crash has left halfway is removed by others after a time, and is never delivered", async () => {
  await killAtUpdate(2, () => store.persist([recordOf("a"), recordOf("b")], gone.signal));
  const clock = new HandClock(0, Date.now());
  const other = await openOn(dynamo, table, { clock });
  for (let minute = 0; minute < 4; minute++) {
    expect(await claimAll(other, signal)).toEqual([]);
    clock.pass(60_000);
  }
  expect((await keysIn(table)).filter((key) => key === "R#")).toEqual([]);
});

test("a record that is too large is refused, and what is persisted with it is kept", async () => {
  const records = [recordOf("a"), recordOf("large", {}, 400 * 1024), recordOf("fits", {}, 390 * 1024)];
  expect(await store.persist(records, signal)).toMatchObject([
    { kind: "persisted" },
    { kind: "refused", error: { code: "PAYLOAD_TOO_LARGE" } },
    { kind: "persisted" },
  ]);
  expect(idsOf(await claimAll(store, signal))).toEqual(["record-a", "record-fits"]);
});

test("a table that throttles for longer than a call may last fails it, uncharged, and nothing is lost", async () => {
  await store.persist([recordOf("a")], signal);
  const hasty = await openOn(dynamo, table, { dynamo: { random: AT_ONCE, callTimeoutMs: 200 } });
  dynamo.choose = () => THROTTLED;
  await expect(hasty.persist([recordOf("b")], signal)).rejects.toMatchObject({ class: "transient", charged: false });
  await expect(claimAll(hasty, signal)).rejects.toMatchObject({ class: "transient", charged: false });
  expect(hasty.health?.().fault).toBeDefined();
  dynamo.reset();
  expect(await store.persist([recordOf("b")], signal)).toEqual([{ kind: "persisted" }]);
  expect(idsOf(await claimAll(store, signal))).toEqual(["record-a", "record-b"]);
});

test("evidence that its retention has outlasted counts no more, though the service still has it", async () => {
  const clock = new HandClock(0, Date.now());
  const short = await openOn(dynamo, table, { clock, retentionMs: 1_000 });
  await short.persist([recordOf("a")], signal);
  const claims = await short.claim({ ...PLACE, limit: 1, loanMs: 1_000 }, signal);
  await short.finish(claims.map(done), signal);
  expect(await keysIn(table)).toContain("R#");
  clock.pass(1_000);
  expect(await short.status("record-a", signal)).toBeUndefined();
  expect(await short.persist([recordOf("a", { id: "anew", payloadDigest: "other" })], signal)).toEqual([
    { kind: "persisted" },
  ]);
});

function again({ record: { id }, token, attempts }: OutboxClaim) {
  return { id, token, outcome: { kind: "retry", delayMs: 1, attempts: attempts + 1 } } as const;
}

test("while the index may not be read, each claim says so, also of a binding that was idle", async () => {
  const claim = () => store.claim({ ...PLACE, limit: 10, loanMs: 60_000 }, signal);
  for (let i = 0; i < 10; i++) expect(await claim()).toEqual([]);
  dynamo.choose = (operation) => (operation === "Query" ? { error: "AccessDeniedException" } : undefined);
  await expect
    .poll(
      () =>
        claim().then(
          () => "read",
          () => "refused",
        ),
      { timeout: 60_000 },
    )
    .toBe("refused");
  for (let i = 0; i < 10; i++) await expect(claim()).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
});
