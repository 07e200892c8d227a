import { silentLogger, systemClock } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import * as v from "valibot";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { dynamodbLeasePlugin } from "../../src/lease/dynamodb-lease-plugin.ts";
import { AT_ONCE, makeTable, openLeases } from "./support/lease-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

const { signal } = new AbortController();
const RECORD = { holder: "a", token: 1, beat: 1, ttlMs: 1_000 };

test("it is shared by the instances of a cluster, and asks for the name of a table", () => {
  const accepts = (options: object): boolean => v.is(dynamodbLeasePlugin.options, options);
  expect(dynamodbLeasePlugin).toMatchObject({ type: "dynamodb", reach: "cluster" });
  expect(accepts({ table_name: "bridge-leases" })).toBe(true);
  for (const options of [{}, { table_name: "" }, { table_name: "a b" }, { table_name: "leases", region: "eu" }]) {
    expect(accepts(options)).toBe(false);
  }
});

test("region, endpoint and credentials are those that the SDK finds", async () => {
  vi.stubEnv("AWS_REGION", dynamo.sdk.region);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", dynamo.endpoint);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  const options = v.parse(dynamodbLeasePlugin.options, { table_name: await makeTable(dynamo) });
  const seams = { clock: systemClock, random: AT_ONCE, logger: silentLogger };
  await using store = await dynamodbLeasePlugin.create(options, { id: "lease", ...seams })(signal);
  expect(await store.replace("key", undefined, RECORD, signal)).toBe(true);
  expect(await store.read("key", signal)).toEqual(RECORD);
});

test("a renewal is one request and one write unit, a look one request and one read unit", async () => {
  const table = await makeTable(dynamo);
  const consumed: unknown[] = [];
  await using store = await openLeases(dynamo, table, { onConsumed: (one) => consumed.push(one) });
  consumed.length = 0;
  await store.replace("plant-7/broker", undefined, RECORD, signal);
  await store.replace("plant-7/broker", RECORD, { ...RECORD, beat: 2 }, signal);
  await store.read("plant-7/broker", signal);
  expect(consumed).toEqual([
    { operation: "PutItem", units: 1 },
    { operation: "PutItem", units: 1 },
    { operation: "GetItem", units: 1 },
  ]);
});
