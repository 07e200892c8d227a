import { PATIENCE } from "@bridge/tooling/patience";
import assert from "node:assert/strict";
import { once, EventEmitter } from "node:events";
import { systemClock } from "@bridge/ports";
import { noPostgresCluster, PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PostgresClient } from "../../src/client/postgres-client.ts";
import { openClient } from "./support/clients.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgresCluster)("a server that", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    await using client = open();
    await client.query({ what: "making", text: "CREATE TABLE notes (id text PRIMARY KEY)" }, signal);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const open = (tryTimeoutMs = 1_000, pool_size = 5): PostgresClient =>
    openClient({ url: cluster.url, schema: "public", pool_size }, { clock: systemClock, tryTimeoutMs });
  const pidOf = async (client: PostgresClient): Promise<number> => {
    const text = "SELECT pg_backend_pid() AS pid, pg_sleep(0.02)";
    return (await client.query<{ pid: number }>({ what: "asking", text }, signal)).rows[0]?.pid ?? 0;
  };

  test("has gone silent on idle connections costs one try, not one for each of them", async () => {
    const tryTimeoutMs = 1_000;
    await using client = open(tryTimeoutMs);
    const pids = await Promise.all(Array.from({ length: 5 }, () => pidOf(client)));
    expect(new Set(pids).size).toBe(5);
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    const began = performance.now();
    try {
      expect(pids).not.toContain(await pidOf(client));
      expect(performance.now() - began).toBeLessThan((pids.length - 1) * tryTimeoutMs);
    } finally {
      for (const pid of pids) process.kill(pid, "SIGCONT");
    }
  });

  test("is frozen is given up in time, and is what it was when it goes on", async () => {
    await using client = open(100);
    await pidOf(client);
    const caller = new AbortController();
    cluster.freeze();
    const asked = pidOf(client);
    asked.catch(() => {});
    const given = client.query({ what: "looking", text: "SELECT 1" }, caller.signal);
    given.catch(() => {});
    setTimeout(() => caller.abort(new Error("enough")), 500);
    await assert.rejects(given, /enough/);
    expect(client.health().fault).toMatch(/no answer in time|no connection in time/);
    cluster.thaw();
    expect(await asked).toBeGreaterThan(0);
    await client.prove();
    expect(client.health()).toEqual({ setAside: [] });
  });

  test.each(["fast", "immediate"] as const)(
    "is restarted (%s) loses no transaction, and is heard again",
    async (how) => {
      await using client = open();
      const events = new EventEmitter();
      const hearing = (): Promise<unknown> =>
        once(events, "hearing", { signal: AbortSignal.timeout(PATIENCE.timeout) });
      const first = hearing();
      using _ = client.listen("notes", { onNotified() {}, onHearing: () => events.emit("hearing") });
      await first;
      const stop = new AbortController();
      const made: string[] = [];
      const writing = Promise.all(
        Array.from({ length: 4 }, async (__, writer) => {
          for (let i = 0; !stop.signal.aborted; i++) {
            const id = `${how}-${writer}-${i}`;
            await client.transaction(
              "writing",
              (t) => t.query({ text: "INSERT INTO notes VALUES ($1) ON CONFLICT DO NOTHING", values: [id] }),
              signal,
              { repeatable: true },
            );
            made.push(id);
          }
        }),
      );
      await systemClock.delay(100, signal);
      const again = hearing();
      await cluster.stop(how);
      await cluster.restart();
      await again;
      const until = made.length + 20;
      while (made.length < until) await systemClock.delay(5, signal);
      stop.abort();
      await writing;
      const { rows } = await client.query<{ id: string }>(
        { what: "reading", text: "SELECT id FROM notes WHERE id LIKE $1", values: [`${how}-%`] },
        signal,
      );
      expect(rows.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
    },
  );
});
