import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { tcpProxy } from "@bridge/conformance";
import { type Clock, systemClock } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { PostgresClient } from "../../src/client/postgres-client.ts";
import type { Transaction } from "../../src/client/statement.ts";
import { by, openClient, portOf } from "./support/clients.ts";

const { signal } = new AbortController();
const SLEEP = { what: "sleeping", text: "SELECT pg_sleep(30)" };
const NAP = { what: "sleeping", text: "SELECT pg_sleep(0.3)" };
const ONE = { what: "looking", text: "SELECT 1 AS one" };

describe.skipIf(noPostgres)("a client", () => {
  let schema: TestSchema;
  beforeAll(async () => {
    schema = await testSchema();
    await schema.rows(`CREATE SCHEMA ${schema.connection.schema}`);
    await schema.rows(`CREATE TABLE ${schema.connection.schema}.notes (id text PRIMARY KEY, size bigint)`);
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  const noteOf = (client: PostgresClient, id: string) =>
    ({ what: "writing a note", text: `INSERT INTO ${client.table("notes")} VALUES ($1, 1)`, values: [id] }) as const;
  const pidOf = async (client: PostgresClient): Promise<number | undefined> =>
    (await client.query<{ pid: number }>({ what: "asking", text: "SELECT pg_backend_pid() AS pid" }, signal)).rows[0]
      ?.pid;
  const notes = async (id: string): Promise<number> =>
    (await schema.rows(`SELECT 1 FROM ${schema.connection.schema}.notes WHERE id = $1`, [id])).length;

  test("values go apart from the text, and numbers come as numbers", async () => {
    await using client = openClient(schema.connection);
    const quoted = "it's; DROP TABLE notes";
    expect(await client.query(noteOf(client, quoted), signal)).toEqual({ rows: [], count: 1, unsure: false });
    const text = `SELECT id, size FROM ${client.table("notes")} WHERE id = $1`;
    const { rows } = await client.query({ what: "reading", text, values: [quoted], name: "read-note" }, signal);
    expect(rows).toEqual([{ id: quoted, size: 1 }]);
  });

  test("no more connections than it may have; who waits gets a turn, or gives up", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 2 });
    const mark = `/* ${schema.connection.schema} */`;
    // Each counts those that have done it, itself among them; the last one sees all.
    const text = `SELECT count(*) AS open FROM pg_sleep(0.02), pg_stat_activity WHERE query LIKE '%' || $1 ${mark}`;
    const calls = Array.from({ length: 20 }, () =>
      client.query<{ open: number }>({ what: "counting", text, values: [mark] }, signal),
    );
    const late = new AbortController();
    const impatient = client.query(ONE, late.signal);
    late.abort(new Error("enough"));
    await assert.rejects(impatient, /enough/);
    const counts = (await Promise.all(calls)).flatMap(({ rows }) => rows.map(({ open }) => open));
    expect(counts).toHaveLength(20);
    expect(Math.max(...counts)).toBe(2);
  });

  test("who waits for a turn too long is told what to raise", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 }, { clock: systemClock, callTimeoutMs: 100 });
    const slow = client.transaction("holding", (t) => t.query({ text: "SELECT pg_sleep(0.5)" }), signal, {
      timeoutMs: 5_000,
    });
    await assert.rejects(client.query(ONE, signal), {
      code: "TIMEOUT",
      message: /no connection was free in time: raise pool_size/,
    });
    await slow;
  });

  test("the server gives a statement up that takes too long, and the connection goes on", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 }, { tryTimeoutMs: 240, callTimeoutMs: 400 });
    await assert.rejects(client.query(SLEEP, signal), { code: "TIMEOUT", message: /SQLSTATE 57014/ });
    expect(client.health().fault).toContain("gave the statement up");
    await client.prove();
    expect(client.health()).toEqual({ setAside: [] });
  });

  test("finding 6.7: a try has more time after one without an answer, here and at the server, if the statement does not end", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 }, { clock: systemClock, tryTimeoutMs: 100 });
    const slow = { what: "sleeping", text: "SELECT pg_sleep(0.5) IS NOT NULL AS slept" };
    await assert.rejects(client.query({ ...slow, endsWhenLate: true }, signal), { code: "TIMEOUT" });
    expect(await client.query(slow, signal)).toMatchObject({ rows: [{ slept: true }] });
    await using hasty = openClient(schema.connection, {
      clock: systemClock,
      tryTimeoutMs: 100,
      longestTryMs: 200,
      callTimeoutMs: 2_000,
    });
    await assert.rejects(hasty.query(slow, signal), { code: "TIMEOUT" });
  });

  test.each([
    ["late, and is only late: health tells when the call is given up", "SELECT pg_sleep(30)", 50, [50, 100, 200]],
    ["not late, but in the way of others", "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$", 500, [500]],
  ])("finding 6.7: a try has more time only after one that was %s", async (_, text, tryTimeoutMs, times) => {
    const tries = new Set<number>();
    const told: (string | undefined)[] = [];
    const delay: Clock["delay"] = (ms, aborted) => {
      if (ms > 0 && ms < CALL_MS) tries.add(ms);
      if (ms > 0) told.push(client.health().fault);
      return systemClock.delay(ms, aborted);
    };
    const CALL_MS = 700;
    const clock: Clock = { ...systemClock, delay };
    const options = { clock, tryTimeoutMs, callTimeoutMs: CALL_MS };
    await using client: PostgresClient = openClient({ ...schema.connection, pool_size: 1 }, options);
    await assert.rejects(client.query({ what: "trying", text }, signal));
    // How often it is tried until then is up to the machine.
    expect([...tries].slice(0, 3)).toEqual(times);
    // A connection that takes longer than a try, as on a busy machine, is another matter.
    expect(told.filter((fault) => fault?.includes("no connection") === false)).toEqual([]);
  });

  test("a caller that gives up waits for nobody, and its connection is used again once it has answered", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 });
    const before = await pidOf(client);
    await assert.rejects(client.query(NAP, AbortSignal.timeout(20)), { name: "TimeoutError" });
    expect(await pidOf(client)).toBe(before);
  });

  test("a caller that gives a transaction up has it undone, and its connection cut off", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 });
    const before = await pidOf(client);
    const work = async (transaction: Transaction): Promise<void> => {
      await transaction.query(noteOf(client, "given-up"));
      await transaction.query(NAP);
    };
    await assert.rejects(client.transaction("writing", work, AbortSignal.timeout(100)), { name: "TimeoutError" });
    expect(await pidOf(client)).not.toBe(before);
    expect(await notes("given-up")).toBe(0);
  });

  test("on a slow network a connection may take longer than a try: whoever comes next has it", async () => {
    // As many round trips do: nothing that the server says arrives sooner.
    const far = createServer((socket) => {
      const server = connect({ port: portOf(schema.connection), host: "127.0.0.1" });
      socket.on("error", () => server.destroy()).pipe(server);
      setTimeout(() => server.pipe(socket), 300);
    });
    await once(far.listen(0, "127.0.0.1"), "listening");
    try {
      const { port } = far.address() as AddressInfo;
      const options = { clock: systemClock, tryTimeoutMs: 200, callTimeoutMs: 2_000 };
      await using client = openClient({ ...by(schema.connection, port), pool_size: 1 }, options);
      expect((await client.query(ONE, signal)).rows).toEqual([{ one: 1 }]);
    } finally {
      far.close();
    }
  });

  test("who changes what others have read for has the next turn", async () => {
    await using client = openClient({ ...schema.connection, pool_size: 1 });
    const ended: string[] = [];
    const ask = async (what: string, goesFirst?: boolean): Promise<void> => {
      await client.query({ ...ONE, what, goesFirst }, signal);
      ended.push(what);
    };
    await Promise.all([ask("first"), ask("reading"), ask("changing", true)]);
    expect(ended).toEqual(["first", "changing", "reading"]);
  });

  test("a server that says nothing any more is given up; what was tried may have been made, and is tried again", async () => {
    await using proxy = await tcpProxy({ target: { port: portOf(schema.connection) } });
    await using client = openClient(by(schema.connection, proxy.port), { clock: systemClock, tryTimeoutMs: 100 });
    await Promise.all([client.query(ONE, signal), client.query(ONE, signal), client.query(ONE, signal)]);
    proxy.freeze();
    const frozen = client.query(
      { ...noteOf(client, "frozen"), text: `${noteOf(client, "frozen").text} ON CONFLICT DO NOTHING` },
      signal,
    );
    await systemClock.delay(250, signal);
    proxy.cut();
    await proxy.restore();
    expect((await frozen).unsure).toBe(true);
    expect(await notes("frozen")).toBe(1);
  });

  test("a connection that the server ends is replaced", async () => {
    await using client = openClient(schema.connection);
    const caller = new AbortController();
    const killed = client.query(
      { what: "ending itself", text: "SELECT pg_terminate_backend(pg_backend_pid())" },
      caller.signal,
    );
    killed.catch(() => {});
    await expect
      .poll(() => client.health().fault)
      .toMatch(/^ending itself at .+: the server ends connections, or starts \(SQLSTATE 57P01\)$/);
    caller.abort(new Error("enough"));
    await assert.rejects(killed, /enough/);
    await client.query(ONE, signal);
  });

  test("nobody listens there: it is tried again until the caller has enough, and the health says why", async () => {
    await using proxy = await tcpProxy({ target: { port: portOf(schema.connection) } });
    proxy.refuse();
    await using client = openClient(by(schema.connection, proxy.port), { clock: systemClock, callTimeoutMs: 400 });
    await assert.rejects(client.query(ONE, signal), { code: "CONNECTION_LOST", message: /nothing listens there/ });
    expect(client.health().fault).toContain("nothing listens there");
    await proxy.restore();
    expect((await client.query(ONE, signal)).rows).toEqual([{ one: 1 }]);
  });

  test("no password in what is told of a database that is not there, and no retry", async () => {
    const url = new URL(schema.connection.url);
    url.password = "canary";
    url.pathname = "/nowhere";
    await using client = openClient({ ...schema.connection, url: url.href });
    const error = await client.query(ONE, signal).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: "DESTINATION_NOT_FOUND", message: /there is no such database/ });
    expect(JSON.stringify(error) + ((error as Error).stack ?? "")).not.toContain("canary");
  });

  test("a file of TLS that cannot be read is told by the health", async () => {
    await using client = openClient({
      ...schema.connection,
      tls: { ca_file: "/nowhere/ca.pem", reject_unauthorized: true },
    });
    await assert.rejects(client.query(ONE, signal), { code: "UNAVAILABLE", charged: false });
    expect(client.health().fault).toMatch(/^looking at .+: tls\.ca_file "\/nowhere\/ca\.pem" cannot be read: ENOENT$/);
  });

  test("a password that is asked for and not there is told by the health", async () => {
    vi.stubEnv("PGPASSWORD", "");
    // Asks everybody for a password in the clear.
    const asking = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])));
    });
    await once(asking.listen(0, "127.0.0.1"), "listening");
    try {
      const { port } = asking.address() as AddressInfo;
      await using client = openClient(by(schema.connection, port));
      await assert.rejects(client.query(ONE, signal), { code: "NOT_AUTHORIZED", charged: false });
      expect(client.health().fault).toMatch(
        /: the server asks for a password: set the option password, or PGPASSWORD$/,
      );
    } finally {
      vi.unstubAllEnvs();
      asking.close();
    }
  });

  test("closing ends what is under way, and leaves no connection", async () => {
    const client = openClient(schema.connection);
    const sleeping = client.query(
      { ...SLEEP, text: `${SLEEP.text} /* closing ${schema.connection.schema} */` },
      signal,
    );
    sleeping.catch(() => {});
    await client.query(ONE, signal);
    await client[Symbol.asyncDispose]();
    await assert.rejects(sleeping, { code: "UNAVAILABLE", message: "the store is closed" });
    await assert.rejects(client.query(ONE, signal), { code: "UNAVAILABLE" });
    await client[Symbol.asyncDispose]();
  });
});
