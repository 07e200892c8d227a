import assert from "node:assert/strict";
import { deadLetter } from "@bridge/conformance";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { postgresDlqPlugin } from "../../src/dlq/postgres-dlq-plugin.ts";
import { SEAMS } from "./support/dlq.ts";

const { signal } = new AbortController();
const context = { ...SEAMS, id: "dlq" };

test("it is shared by the instances of a cluster, and may forget", () => {
  expect(postgresDlqPlugin).toMatchObject({ type: "postgres", reach: "cluster" });
  expect(v.parse(postgresDlqPlugin.options, { retention: "1h" })).toMatchObject({ retention: 3_600_000 });
  expect(v.is(postgresDlqPlugin.options, { retention: "0s" })).toBe(false);
});

describe.skipIf(noPostgres)("the plugin", () => {
  test("refuses to open without tables, naming the remedy, and makes them when it is asked to", async () => {
    await using schema = await testSchema();
    const options = v.parse(postgresDlqPlugin.options, schema.connection);
    await assert.rejects(postgresDlqPlugin.create(options, context)(signal), {
      code: "DESTINATION_NOT_FOUND",
      message: /make the tables with `bridge -create-tables`/,
    });
    expect(await postgresDlqPlugin.createTables?.(options, context)(signal)).toEqual([
      `127.0.0.1:5432/test, schema ${schema.connection.schema}: tables of the store dlq made`,
    ]);
    await using store = await postgresDlqPlugin.create(options, context)(signal);
    await store.put(deadLetter("a"), signal);
    expect(await store.get("a", signal)).toEqual(deadLetter("a"));
  });

  test("operators 12.20: refuses the tables of an older layout, naming what they lack and the command", async () => {
    await using schema = await testSchema();
    const { schema: name } = schema.connection;
    const options = v.parse(postgresDlqPlugin.options, schema.connection);
    await postgresDlqPlugin.createTables?.(options, context)(signal);
    await schema.rows(`DROP TABLE ${name}.dead_letter_jobs, ${name}.dead_letter_trash;
      ALTER TABLE ${name}.dead_letters DROP COLUMN marks, DROP COLUMN fingerprint`);
    const message =
      /lacks: column dead_letters.fingerprint, column dead_letters.marks, .*table dead_letter_jobs.*: restore it from a backup; or drop the tables that are left of it \(dead_letters, dead_letter_changes\).* make them anew with `bridge -create-tables`/;
    const older = { code: "DESTINATION_NOT_FOUND", message };
    await assert.rejects(postgresDlqPlugin.create(options, context)(signal), older);
    await assert.rejects(async () => postgresDlqPlugin.createTables?.(options, context)(signal), older);
  });

  test("what the server's texts cannot hold is stored, or is not there", async () => {
    await using schema = await testSchema();
    const options = v.parse(postgresDlqPlugin.options, schema.connection);
    await postgresDlqPlugin.createTables?.(options, context)(signal);
    await using store = await postgresDlqPlugin.create(options, context)(signal);
    const odd = deadLetter("a", {
      reason: "\u0000 \ud800",
      envelope: { headers: { "\u0000": "\udc00" }, subject: "\u0000" },
    });
    await store.put(odd, signal);
    expect(await store.get("a", signal)).toEqual(odd);
    expect(await store.get("\u0000", signal)).toBeUndefined();
    expect(await store.list({ routeId: "\u0000" }, { limit: 1, offset: 0 }, signal)).toEqual([]);
    expect(await store.admin?.delete(["\u0000", "a"], signal)).toEqual(new Set(["a"]));
    expect(await store.admin?.deleteWhere({ routeId: "\u0000" }, undefined, signal)).toBe(0);
  });
});
