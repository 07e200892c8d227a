import assert from "node:assert/strict";
import type { LeaseRecord } from "@bridge/ports";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { postgresLeasePlugin } from "../../src/lease/postgres-lease-plugin.ts";
import { SEAMS } from "./support/leases.ts";

const { signal } = new AbortController();
const RECORD: LeaseRecord = { holder: "a", token: 1, beat: 1, ttlMs: 1_000.5 };
const context = { ...SEAMS, id: "lease" };

test("it is shared by the instances of a cluster", () => {
  expect(postgresLeasePlugin).toMatchObject({ type: "postgres", reach: "cluster" });
  expect(v.is(postgresLeasePlugin.options, { url: "postgresql://host/plant", tables: "mine" })).toBe(false);
});

describe.skipIf(noPostgres)("the plugin", () => {
  test("refuses to open without tables, naming the remedy, and makes them when it is asked to", async () => {
    await using schema = await testSchema();
    const options = v.parse(postgresLeasePlugin.options, schema.connection);
    await assert.rejects(postgresLeasePlugin.create(options, context)(signal), {
      code: "DESTINATION_NOT_FOUND",
      message: /make the tables with `bridge -create-tables`/,
    });
    const make = postgresLeasePlugin.createTables;
    const where = `127.0.0.1:5432/test, schema ${schema.connection.schema}: tables of the store lease`;
    expect(await make?.(options, context)(signal)).toEqual([`${where} made`]);
    expect(await make?.(options, context)(signal)).toEqual([`${where} were there`]);
    await using store = await postgresLeasePlugin.create(options, context)(signal);
    expect(await store.replace("key", undefined, RECORD, signal)).toBe(true);
    expect(await store.read("key", signal)).toEqual(RECORD);
  });
});
