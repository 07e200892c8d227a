import assert from "node:assert/strict";
import { tcpProxy } from "@bridge/conformance";
import { BridgeError, systemClock } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { by, openClient, portOf } from "./support/clients.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("a transaction", () => {
  let schema: TestSchema;
  let table = "";
  beforeAll(async () => {
    schema = await testSchema();
    table = `${schema.connection.schema}.notes`;
    await schema.rows(`CREATE SCHEMA ${schema.connection.schema}`);
    await schema.rows(`CREATE TABLE ${table} (id text PRIMARY KEY, n int NOT NULL DEFAULT 0)`);
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  const insert = (id: string) => ({ text: `INSERT INTO ${table} (id) VALUES ($1)`, values: [id] });
  const ids = async (like: string) =>
    (await schema.rows<{ id: string }>(`SELECT id FROM ${table} WHERE id LIKE $1 ORDER BY id`, [like])).map(
      ({ id }) => id,
    );

  test("is made as a whole or not at all, and its connection goes on", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 });
    await client.transaction(
      "writing",
      async (t) => (await t.query(insert("whole-1")), t.query(insert("whole-2"))),
      signal,
    );
    const twice = client.transaction(
      "writing",
      async (t) => (await t.query(insert("half")), t.query(insert("half"))),
      signal,
    );
    await assert.rejects(twice, { code: "UNAVAILABLE", message: /SQLSTATE 23505, constraint / });
    const own = new TypeError("own");
    await assert.rejects(
      client.transaction(
        "writing",
        async (t) => {
          await t.query(insert("half"));
          throw own;
        },
        signal,
      ),
      { code: "INTERNAL" },
    );
    expect(await ids("%")).toEqual(["whole-1", "whole-2"]);
  });

  test("that its own work declines is undone, and says nothing of the server, nor of the connection", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 });
    const backend = async () =>
      (await client.query({ what: "asking", text: "SELECT pg_backend_pid() AS pid" }, signal)).rows;
    const before = await backend();
    const reason = new BridgeError("REJECTED", "undone", { charged: false });
    const declined = client.transaction(
      "trying",
      async (t) => {
        await t.query(insert("declined"));
        throw reason;
      },
      signal,
    );
    await expect(declined).rejects.toBe(reason);
    expect(client.health()).toEqual({ setAside: [] });
    expect(await backend()).toEqual(before);
    expect(await ids("declined")).toEqual([]);
  });

  test("one that went on after a failed statement has made nothing, and says so", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 });
    const careless = client.transaction(
      "writing",
      async (t) => {
        await t.query(insert("careless"));
        await t.query(insert("careless")).catch(() => {});
      },
      signal,
    );
    await assert.rejects(careless, { code: "INTERNAL", message: /the server has undone the transaction$/ });
    expect(await ids("careless")).toEqual([]);
  });

  test.each([false, true])(
    "whose last answer is lost (repeatable: %s) is made again only if it may be",
    async (repeatable) => {
      await using proxy = await tcpProxy({ target: { port: portOf(schema.connection) } });
      await using client = openClient(by(schema.connection, proxy.port), { clock: systemClock, tryTimeoutMs: 2_000 });
      let done = 0;
      const made = client.transaction(
        "writing",
        async (t) => {
          await t.query({ ...insert(`lost-${repeatable}`), text: `${insert("").text} ON CONFLICT DO NOTHING` });
          if (++done > 1) return done;
          // What is said from now on arrives late: the last word does, its answer does not.
          proxy.delay(200);
          setTimeout(() => proxy.cut(), 300);
          setTimeout(() => void proxy.restore(), 310);
          return done;
        },
        signal,
        { repeatable },
      );
      if (repeatable) expect(await made).toBe(2);
      else
        await assert.rejects(made, {
          code: "CONNECTION_LOST",
          message: /^writing at .+: whether it was made is unknown/,
        });
      expect(done).toBe(repeatable ? 2 : 1);
      expect(await ids("lost-%")).toContain(`lost-${repeatable}`);
    },
  );

  test("whose last word is not answered in time is not made again", async () => {
    await using proxy = await tcpProxy({ target: { port: portOf(schema.connection) } });
    await using client = openClient(by(schema.connection, proxy.port), { clock: systemClock, tryTimeoutMs: 1_000 });
    let done = 0;
    const made = client.transaction(
      "writing",
      async (t) => {
        await t.query(insert(`late-${++done}`));
        proxy.freeze();
      },
      signal,
    );
    await assert.rejects(made, { code: "CONNECTION_LOST", message: /whether it was made is unknown/ });
    expect(done).toBe(1);
  });

  test("whose connection is lost before its last word is made again", async () => {
    await using client = openClient(schema.connection);
    let done = 0;
    const made = client.transaction(
      "writing",
      async (t) => {
        await t.query(insert(`again-${++done}`));
        if (done === 1) await t.query({ text: "SELECT pg_terminate_backend(pg_backend_pid())" });
        return done;
      },
      signal,
    );
    expect(await made).toBe(2);
    expect(await ids("again-%")).toEqual(["again-2"]);
  });

  test("20 that are in each other's way are all made", async () => {
    await using client = openClient(schema.connection);
    await schema.rows(`INSERT INTO ${table} (id) VALUES ('a'), ('b')`);
    const add = (id: string) => ({ text: `UPDATE ${table} SET n = n + 1 WHERE id = $1`, values: [id] });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        client.transaction(
          "adding",
          async (t) => {
            await t.query({ text: "SET LOCAL deadlock_timeout = '5ms'" });
            for (const id of i % 2 === 0 ? ["a", "b"] : ["b", "a"]) await t.query(add(id));
          },
          signal,
        ),
      ),
    );
    expect(await schema.rows(`SELECT n FROM ${table} WHERE id IN ('a', 'b')`)).toEqual([{ n: 20 }, { n: 20 }]);
  });
});
