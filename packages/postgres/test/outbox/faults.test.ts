import { tcpProxy, type TcpProxy } from "@bridge/conformance";
import { type ClaimEnd, type OutboxStore, systemRandom } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Connection, makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf, recordsOf } from "./support/records.ts";

const { signal } = new AbortController();
/** Waits between tries are 0. */
const AT_ONCE = { ...systemRandom(), next: () => 0 };
/** How long the server's answers are on their way, in which they can be cut off. */
const LATE_MS = 200;

describe.skipIf(noPostgres)("an outbox whose server is hard to reach", () => {
  let tables: TestTables;
  let proxy: TcpProxy;
  let store: OutboxStore;
  let schema: string;
  beforeAll(async () => {
    tables = await makeTables();
    schema = tables.connection.schema;
    proxy = await tcpProxy({ target: { port: Number(new URL(tables.connection.url ?? "").port) } });
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await tables[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await tables.empty();
    store = await openOn(byProxy(), { postgres: { random: AT_ONCE } });
    // Its one connection is open, and its lane is known.
    await claimAll(store, signal);
  });
  afterEach(() => store[Symbol.asyncDispose]());

  function byProxy(): Connection {
    const url = new URL(tables.connection.url ?? "");
    url.port = String(proxy.port);
    return { ...tables.connection, url: url.href, pool_size: 1 };
  }

  const there = async (condition: string) =>
    (await tables.schema.rows(`SELECT 1 FROM ${schema}.${condition}`)).length > 0;

  /** Cuts the connection when the server has done the work, and before its answer is here. */
  async function cutBeforeAnswer<T>(work: () => Promise<T>, made: string): Promise<T> {
    proxy.delay(LATE_MS);
    const result = work();
    result.catch(() => {});
    await expect.poll(() => there(made), { interval: 2, timeout: 30_000 }).toBe(true);
    proxy.cut();
    await proxy.restore();
    return result;
  }

  test("what was persisted is known for one's own", async () => {
    const records = recordsOf(3, () => "key");
    const results = await cutBeforeAnswer(() => store.persist(records, signal), "outbox_record");
    expect(results).toEqual(records.map(() => ({ kind: "persisted" })));
    expect(idsOf(await claimAll(store, signal))).toEqual(records.map(({ id }) => id));
  });

  test("what is said by others meanwhile is a duplicate still", async () => {
    await using other = await openOn(tables.connection);
    await other.persist([recordOf("a", { id: "others" })], signal);
    const records = [recordOf("a"), recordOf("b")];
    const results = await cutBeforeAnswer(() => store.persist(records, signal), "outbox_record WHERE id = 'record-b'");
    expect(results).toEqual([{ kind: "duplicate", id: "others", status: "pending" }, { kind: "persisted" }]);
  });

  test("what was lent is got all the same, once", async () => {
    await store.persist(recordsOf(5), signal);
    const claims = await cutBeforeAnswer(() => claimAll(store, signal, 3), "outbox_queue WHERE token IS NOT NULL");
    expect(idsOf(claims)).toEqual(["record-0", "record-1", "record-2"]);
    expect(await store.finish(claims.map(done), signal)).toEqual([true, true, true]);
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-3", "record-4"]);
  });

  test("a record that an operator has is got all the same", async () => {
    await store.persist([recordOf("a")], signal);
    const claim = await cutBeforeAnswer(
      () => store.claimOne("record-a", 60_000, signal),
      "outbox_queue WHERE token IS NOT NULL",
    );
    expect(claim?.record.id).toBe("record-a");
    expect(await store.finish(claim === undefined ? [] : [done(claim)], signal)).toEqual([true]);
  });

  test.each<[string, ClaimEnd["outcome"], string]>([
    ["delivered", { kind: "done" }, "outbox_record WHERE status = 1"],
    ["given up", { kind: "dead" }, "outbox_record WHERE status = 2"],
    ["to be tried again", { kind: "retry", delayMs: 0, attempts: 2 }, "outbox_queue WHERE attempts = 2"],
  ])("that a record is %s was entered, and once", async (_, outcome, made) => {
    await store.persist([recordOf("a")], signal);
    const ends = (await claimAll(store, signal)).map(({ record: { id }, token }) => ({ id, token, outcome }));
    expect(await cutBeforeAnswer(() => store.finish(ends, signal), made)).toEqual([true]);
    expect(await store.finish(ends, signal)).toEqual([false]);
  });

  test("of a record that was lent here twice the end of one loan was entered", async () => {
    await store.persist([recordOf("a")], signal);
    const [lapsed] = await claimAll(store, signal, 1, 0);
    const [lent] = await claimAll(store, signal);
    const ends = [lapsed, lent].flatMap((claim) => (claim === undefined ? [] : done(claim)));
    const entered = await cutBeforeAnswer(() => store.finish(ends, signal), "outbox_record WHERE status = 1");
    expect(entered).toEqual([false, true]);
  });

  test("what was lent to a caller that has given up is lent with the next claim", async () => {
    await store.persist(
      recordsOf(2, () => "key"),
      signal,
    );
    const caller = new AbortController();
    proxy.delay(LATE_MS);
    const given = claimAll(store, caller.signal);
    given.catch(() => {});
    await expect.poll(() => there("outbox_queue WHERE token IS NOT NULL"), { interval: 2, timeout: 30_000 }).toBe(true);
    caller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await proxy.restore();
    // The first of them gives back; what it gives back is there for the one after it.
    const claims = [...(await claimAll(store, signal)), ...(await claimAll(store, signal))];
    expect(idsOf(claims)).toEqual(["record-0", "record-1"]);
  });

  /** Lends as a former try of a claim does that reaches the server's hands only now. */
  const lendLate = (loan: string | undefined) =>
    tables.schema.rows(
      `SELECT c.id FROM (SELECT DISTINCT place FROM ${schema}.outbox_queue) AS q,
         ${schema}.outbox_claim(q.place, 0, 1, 1000, 60000, '{}', $1, '{}') AS c`,
      [loan],
    );

  test("what a try of a claim lends that comes late is lent with the next claim", async () => {
    const ids: string[] = [];
    const random = { ...AT_ONCE, id: () => (ids.push(AT_ONCE.id()), ids.at(-1) as string) };
    await using own = await openOn(byProxy(), { random, postgres: { random: AT_ONCE } });
    await own.persist(
      recordsOf(4, () => "key"),
      signal,
    );
    const got = await cutBeforeAnswer(() => claimAll(own, signal, 2), "outbox_queue WHERE token IS NOT NULL");
    await own.finish(got.map(done), signal);
    const [lost] = ids.slice(-2);
    for (let times = 0; times < 2; times++) {
      expect(await lendLate(lost)).toHaveLength(1);
      const claims = await claimAll(own, signal, 1);
      expect(idsOf(claims)).toEqual([`record-${2 + times}`]);
      expect(await own.finish(claims.map(done), signal)).toEqual([true]);
    }
  });

  test("a session that does not see what others commit meanwhile lends nothing", async () => {
    const statements = [
      "BEGIN ISOLATION LEVEL REPEATABLE READ",
      `SELECT * FROM ${schema}.outbox_claim(gen_random_uuid(), 0, 1, 1000, 60000, '{}', 't', '{}')`,
    ];
    await expect(tables.schema.rows(statements.join("; "))).rejects.toThrow(/must be read committed/);
    await tables.schema.rows("ROLLBACK");
  });

  test("while nobody listens there, calls are tried again; what cannot be done in time fails uncharged, and is told", async () => {
    await store.persist([recordOf("a")], signal);
    proxy.refuse();
    proxy.cut();
    const hasty = await openOn(
      { ...tables.connection, url: `postgresql://postgres@127.0.0.1:${proxy.port}/test` },
      { postgres: { random: AT_ONCE, callTimeoutMs: 100 } },
    );
    await expect(hasty.persist([recordOf("b")], signal)).rejects.toMatchObject({ class: "transient", charged: false });
    await expect(claimAll(hasty, signal)).rejects.toMatchObject({ class: "transient", charged: false });
    expect(hasty.health?.().fault).toBeDefined();
    const patient = store.persist([recordOf("c")], signal);
    await proxy.restore();
    expect(await patient).toEqual([{ kind: "persisted" }]);
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-a", "record-c"]);
    await hasty[Symbol.asyncDispose]();
  });
});
