import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { tcpProxy, type TcpProxy } from "@bridge/conformance";
import { type LeaseRecord, type LeaseStore, systemClock } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeTables, openLeases } from "./support/leases.ts";

const { signal } = new AbortController();
const first = (holder: string): LeaseRecord => ({ holder, token: 1, beat: 1, ttlMs: 15_000 });

describe.skipIf(noPostgres)("a lease", () => {
  let schema: TestSchema;
  let proxy: TcpProxy;
  let direct: LeaseStore;
  let store: LeaseStore;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    const url = new URL(schema.connection.url);
    proxy = await tcpProxy({ target: { port: Number(url.port) } });
    url.port = String(proxy.port);
    direct = await openLeases(schema.connection);
    store = await openLeases({ ...schema.connection, url: url.href }, { clock: systemClock, tryTimeoutMs: 2_000 });
  });
  afterAll(async () => {
    for (const part of [store, direct, proxy, schema]) await part[Symbol.asyncDispose]();
  });

  /** Replaces a lease, and loses the answer when it is made; `meanwhile` comes before the next try. */
  async function losingAnswer(
    key: string,
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    meanwhile: () => Promise<unknown> = async () => {},
  ): Promise<boolean> {
    await store.read(key, signal);
    proxy.delay(100);
    const replaced = store.replace(key, expected, next, signal);
    replaced.catch(() => {});
    while (!isDeepStrictEqual(await direct.read(key, signal), next)) await systemClock.delay(1, signal);
    proxy.cut();
    proxy.refuse();
    await meanwhile();
    await proxy.restore();
    return replaced;
  }

  test("is taken and renewed once, and its holder knows, when answers are lost", async () => {
    expect(await losingAnswer("lost", undefined, first("a"))).toBe(true);
    const next = { ...first("a"), beat: 2 };
    expect(await losingAnswer("lost", first("a"), next)).toBe(true);
    expect(await direct.read("lost", signal)).toEqual(next);
  });

  test("whose answer was lost, and which somebody has replaced since, is unknown, not refused", async () => {
    const overtaken = losingAnswer("overtaken", undefined, first("a"), async () =>
      assert.ok(await direct.replace("overtaken", first("a"), { ...first("b"), token: 2 }, signal)),
    );
    await assert.rejects(overtaken, {
      code: "CONNECTION_LOST",
      message: "whether lease overtaken was replaced is unknown: no answer came in time",
    });
  });

  test("of 20 takers whose connections are cut at random, one has it, and nobody else believes so", async () => {
    const takers = Array.from({ length: 20 }, (_, i) => first(`taker-${i}`));
    let cuts = 0;
    const cutting = setInterval(() => cuts++ < 15 && proxy.cut(), 10);
    const results = await Promise.allSettled(
      takers.map((taker, i) => (i % 4 === 0 ? direct : store).replace("raced", undefined, taker, signal)),
    );
    clearInterval(cutting);
    const holder = (await direct.read("raced", signal))?.holder;
    const sure = takers.filter((_, i) => results[i]?.status === "fulfilled" && results[i].value);
    for (const { holder: believer } of sure) expect(believer).toBe(holder);
    expect(sure.length).toBeLessThanOrEqual(1);
    expect(takers.map((taker) => taker.holder)).toContain(holder);
  });

  test("of 20 writers at a time each round has one winner, and tokens only grow", async () => {
    let held: LeaseRecord | undefined;
    for (let token = 1; token <= 5; token++) {
      const rivals = Array.from({ length: 20 }, (_, i) => ({ ...first(`w${i}`), token }));
      const won = await Promise.all(rivals.map((rival) => direct.replace("rounds", held, rival, signal)));
      const winners = rivals.filter((_, i) => won[i]);
      expect(winners).toHaveLength(1);
      const now = await direct.read("rounds", signal);
      expect(now).toEqual(winners[0]);
      if (held !== undefined) expect(await direct.replace("rounds", held, { ...held, beat: 99 }, signal)).toBe(false);
      held = now;
    }
  });

  test("cannot be moved by a statement that was given up and is made late", async () => {
    // The row is locked, so that the holder's renewal waits at the server while its caller gives up.
    await direct.replace("late", undefined, first("a"), signal);
    await schema.rows("BEGIN");
    await schema.rows(`SELECT 1 FROM ${schema.connection.schema}.leases WHERE key = 'late' FOR UPDATE`);
    const renewing = direct.replace("late", first("a"), { ...first("a"), beat: 2 }, AbortSignal.timeout(100));
    await assert.rejects(renewing);
    await schema.rows(
      `UPDATE ${schema.connection.schema}.leases SET holder = 'b', token = 2, beat = 1 WHERE key = 'late'`,
    );
    await schema.rows("COMMIT");
    await systemClock.delay(50, signal);
    expect(await direct.read("late", signal)).toEqual({ ...first("b"), token: 2 });
  });

  test("tells of a server that is away, and when it is back", async () => {
    await store.read("health", signal);
    await vi.waitFor(() => expect(store.health?.()).toEqual({ setAside: [] }), PATIENCE);
    proxy.cut();
    proxy.refuse();
    await assert.rejects(store.read("health", AbortSignal.timeout(300)));
    await vi.waitFor(() => expect(store.health?.().fault).toContain("nothing listens there"), PATIENCE);
    await proxy.restore();
    await store.read("health", signal);
    // A look that met the refusal is told until the next one.
    await vi.waitFor(() => expect(store.health?.()).toEqual({ setAside: [] }), PATIENCE);
  });
});
