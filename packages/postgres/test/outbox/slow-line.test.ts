import { tcpProxy, type TcpProxy } from "@bridge/conformance";
import { BridgeError, type OutboxClaim, type OutboxRecord, type OutboxStore, systemClock } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf } from "./support/records.ts";

const KIB = 1024;
/** In the time of a first try two or three messages of 100 KiB pass, and not one of 400. */
const LINE = 1_000 * KIB;
const POSTGRES = { clock: systemClock, tryTimeoutMs: 300, callTimeoutMs: 4_000 } as const;

describe.skipIf(noPostgres)("finding 6.7: an outbox at the end of a slow line", () => {
  let tables: TestTables;
  let proxy: TcpProxy;
  let near: OutboxStore;
  let far: OutboxStore;
  let signal: AbortSignal;
  beforeAll(async () => {
    tables = await makeTables();
    proxy = await tcpProxy({ target: { port: Number(new URL(tables.connection.url ?? "").port) } });
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await tables[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    signal = AbortSignal.timeout(60_000);
    await tables.empty();
    near = await openOn(tables.connection);
    far = await openFar();
    await claimAll(far, signal);
    proxy.rate(LINE);
  });
  afterEach(async () => {
    await proxy.restore();
    await near[Symbol.asyncDispose]();
    await far[Symbol.asyncDispose]();
  });

  function openFar(): Promise<OutboxStore> {
    const url = new URL(tables.connection.url ?? "");
    url.port = String(proxy.port);
    return openOn({ ...tables.connection, url: url.href, pool_size: 2 }, { postgres: POSTGRES });
  }

  function recordsOf(count: number, bytes: number): readonly OutboxRecord[] {
    return Array.from({ length: count }, (_, i) => recordOf(`${i}`, {}, bytes));
  }

  /** Does again what was late, as routes and drains do. */
  async function insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        if (!BridgeError.is(error) || error.class !== "transient") throw error;
      }
    }
  }

  test("what one turn brings is written, in smaller groups than it came in", async () => {
    const records = recordsOf(12, 100 * KIB);
    await Promise.all(records.map((record) => insist(() => far.persist([record], signal))));
    expect((await near.backlog(signal))[0]?.depth).toBe(12);
  });

  test("what is lent is read, in smaller claims than were asked for", async () => {
    for (const record of recordsOf(12, 100 * KIB)) await near.persist([record], signal);
    const claims: OutboxClaim[] = [];
    while (claims.length < 12) {
      const some = await insist(() => claimAll(far, signal));
      await insist(() => far.finish(some.map(done), signal));
      claims.push(...some);
    }
    expect(new Set(idsOf(claims)).size).toBe(12);
  });

  test("a message that takes longer than a first try is written, and read", async () => {
    const [record] = recordsOf(1, 400 * KIB);
    if (record === undefined) throw new Error("no record");
    expect(await far.persist([record], signal)).toEqual([{ kind: "persisted" }]);
    await using another = await openFar();
    expect(idsOf(await claimAll(another, signal))).toEqual([record.id]);
  });
});
