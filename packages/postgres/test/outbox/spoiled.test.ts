import { HandClock } from "@bridge/conformance";
import { type LogFields, type OutboxStore, silentLogger } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, PLACE, recordOf } from "./support/records.ts";

const { signal } = new AbortController();
const OTHERS = ["record-0", "record-2", "record-3", "record-4"];

describe.skipIf(noPostgres)("an outbox with a row that somebody has changed", () => {
  let tables: TestTables;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());

  /** Records `0` to `4` of one key, of which the second is changed while nobody has it open. */
  beforeEach(async () => {
    await tables.empty();
    await using store = await openOn(tables.connection);
    const fields = { received: recordOf("x").envelope, entryId: "entry", orderingKey: "key" };
    await store.persist(
      Array.from({ length: 5 }, (_, i) => recordOf(String(i), fields)),
      signal,
    );
  });

  const change = (what: string) =>
    tables.schema.rows(`UPDATE ${tables.connection.schema}.outbox_queue SET ${what} WHERE id = 'record-1'`);

  test.each([
    ["payload is empty", "payload = ''"],
    ["payload is another", "payload = 'other'"],
    ["received payload is another", "received_payload = 'other'"],
    ["received payload is gone", "received_payload = NULL"],
    ["envelope is cut short", "envelope = left(envelope, 9)"],
    ["envelope is a list of something else", "envelope = '[1,2]'"],
    ["envelope is null", "envelope = 'null'"],
    ["received envelope is gone", "received = NULL"],
    ["address is another", "address = 'orders/8'"],
    ["ordering key is another", "ordering_key = 'other'"],
    ["ordering key is gone", "ordering_key = NULL"],
    ["dead letter is another", "entry_id = 'other'"],
    ["id is another", "id = 'record-9'"],
    ["binding is another", "binding_id = 'other'"],
    ["time is another", "created_at = created_at + 1"],
    ["time is no number", "created_at = 'NaN'"],
    ["seal is empty", "seal = ''"],
  ])("whose %s keeps it, tells its id and never lends it; it lends all others of its key", async (_, what) => {
    await change(what);
    const errors: string[] = [];
    const logger = {
      ...silentLogger,
      error: (line: string, fields?: LogFields) =>
        void errors.push(`${line}: ${String(fields?.["record_id"])} ${String(fields?.["route_id"])}`),
    };
    await using store = await openOn(tables.connection, { logger });
    expect(await drained(store, 1)).toEqual(OTHERS);
    expect(errors).toEqual([expect.stringMatching(/is kept, and not sent: record-[19] route$/)]);
    expect(store.health?.()).toMatchObject({ setAside: [], spoiled: 1 });
    expect(await store.backlog(signal)).toMatchObject([{ depth: 1, blockedKeys: 0 }]);
    expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(1);
  });

  test("that belongs to another binding now does not send it there", async () => {
    await change("place = '00000000-0000-0000-0000-000000000000'");
    await using store = await openOn(tables.connection);
    await expect(store.claimOne("record-1", 1_000, signal)).resolves.toBeUndefined();
    expect(await drained(store, 100)).toEqual(OTHERS);
  });

  test("that lies where no claim looks is told when it is looked after, and not when it is put back", async () => {
    const rounds: (() => void)[] = [];
    const clock = Object.assign(new HandClock(3_600_000, 1_767_225_600_000), {
      every: (_: number, tick: () => void): Disposable => {
        rounds.push(tick);
        return { [Symbol.dispose]() {} };
      },
    });
    const [{ place } = { place: "" }] = await tables.schema.rows<{ place: string }>(
      `SELECT DISTINCT place::text FROM ${tables.connection.schema}.outbox_queue`,
    );
    await change("place = '00000000-0000-0000-0000-000000000009'");
    await using store = await openOn(tables.connection, { clock });
    const spoiledLater = (): number | undefined => {
      for (const round of rounds) round();
      return store.health?.().spoiled;
    };
    await vi.waitFor(() => expect(spoiledLater()).toBe(1), PATIENCE);
    await change(`place = '${place}'`);
    await vi.waitFor(() => expect(spoiledLater()).toBeUndefined(), PATIENCE);
    expect(await drained(store, 100)).toEqual(["record-0", "record-1", "record-2", "record-3", "record-4"]);
  });

  test.each([
    "token = 'x', held_at = outbox_now(), held_until = 'infinity'",
    "token = 'x', held_at = outbox_now(), held_until = '2100-01-01'",
    "token = 'x', held_at = NULL, held_until = '2100-01-01'",
    "held_at = outbox_now(), held_until = 'infinity'",
    "held_at = '294276-12-31', held_until = '294276-12-31'",
    "held_at = '4713-01-01 BC', held_until = '2100-01-01'",
  ])("that is held for longer than anything can be is lent: %s", async (what) => {
    await change(what.replaceAll("outbox_now", `${tables.connection.schema}.outbox_now`));
    await using store = await openOn(tables.connection);
    expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(5);
    expect(await drained(store, 100)).toEqual(["record-0", "record-1", "record-2", "record-3", "record-4"]);
  });

  test.each([2 ** 31 - 1, -(2 ** 31)])(
    "that is said to have been tried %d times fails no end of others",
    async (attempts) => {
      await change(`attempts = ${attempts}`);
      await using store = await openOn(tables.connection);
      const claims = await claimAll(store, signal);
      const ends = claims.map(({ record: { id }, token, attempts: before }) => ({
        id,
        token,
        outcome: { kind: "retry", delayMs: 0, attempts: before + 1 } as const,
      }));
      expect(await store.finish(ends, signal)).toEqual(Array(5).fill(true));
      const most = Math.min(attempts + 1, 2 ** 31 - 1);
      expect((await claimAll(store, signal)).map((claim) => claim.attempts)).toEqual([1, most, 1, 1, 1]);
    },
  );

  test.each(["'NaN'", "'Infinity'", "'-Infinity'"])("whose time is %s hides no list", async (time) => {
    await change(`created_at = ${time}`);
    await using store = await openOn(tables.connection);
    const list = await store.list({}, { limit: 10, offset: 0 }, signal);
    expect(list.map(({ createdAt, dueAt }) => [createdAt, dueAt].every(Number.isFinite))).toEqual(Array(5).fill(true));
    const [line] = await store.backlog(signal);
    expect(line?.oldestCreatedAt).toSatisfy(Number.isFinite);
  });

  test("lets each instance lend the others of its key at once", async () => {
    await change("payload = 'other'");
    await using store = await openOn(tables.connection);
    await using other = await openOn(tables.connection);
    await expect(store.claimOne("record-1", 60_000, signal)).rejects.toThrow(
      /record "record-1" .* is not as it was written/,
    );
    expect(idsOf(await claimAll(store, signal, 2))).toEqual(["record-0", "record-2"]);
    expect(idsOf(await claimAll(other, signal))).toEqual([]);
    await expect(other.claimOne("record-1", 60_000, signal)).rejects.toThrow(
      /record "record-1" .* is not as it was written/,
    );
    expect([store.health?.().spoiled, other.health?.().spoiled]).toEqual([1, 1]);
  });

  test("ends it as dead when an operator acknowledges it, and keeps what there is of it", async () => {
    await change("payload = 'other'");
    await using store = await openOn(tables.connection);
    expect(await drained(store, 100)).toEqual(OTHERS);
    expect(store.acknowledgeDamage?.()).toEqual(["record-1"]);
    await vi.waitFor(() => expect(store.health?.().spoiled).toBeUndefined(), PATIENCE);
    expect(await store.status("record-1", signal)).toBe("dead");
    expect(await store.backlog(signal)).toEqual([]);
    const kept = `SELECT id, payload FROM ${tables.connection.schema}.outbox_spoiled`;
    expect(await tables.schema.rows(kept)).toEqual([{ id: "record-1", payload: Buffer.from("other") }]);
  });

  test.each([
    ["put it back as it was, it is sent", "payload = decode(repeat('07', 256), 'hex')", ["record-1"]],
    ["changed it once more, it is still kept", "payload = 'third'", []],
  ])("when somebody has %s, half a minute later", async (_, what, sent) => {
    const clock = new HandClock(3_600_000, 1_767_225_600_000);
    await change("payload = 'other'");
    await using store = await openOn(tables.connection, { clock });
    expect(await drained(store, 100)).toEqual(OTHERS);
    await change(what);
    expect(await drained(store, 100)).toEqual([]);
    clock.pass(30_000);
    expect(await drained(store, 100)).toEqual(sent);
    expect(store.health?.().spoiled).toBe(sent.length === 0 ? 1 : undefined);
  });

  test("that is deleted then is not counted, half a minute later", async () => {
    const clock = new HandClock(3_600_000, 1_767_225_600_000);
    await change("payload = 'other'");
    await using store = await openOn(tables.connection, { clock });
    await drained(store, 100);
    await tables.empty();
    clock.pass(30_000);
    expect(await drained(store, 100)).toEqual([]);
    expect(store.health?.().spoiled).toBeUndefined();
  });
});

/** What is lent to the end, some at a time. */
async function drained(store: OutboxStore, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const claims = await store.claim({ ...PLACE, limit, loanMs: 60_000 }, signal);
    if (claims.length === 0) return ids;
    ids.push(...idsOf(claims));
    await store.finish(claims.map(done), signal);
  }
}
