import { silentLogger, systemClock } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import * as v from "valibot";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { dynamodbDlqPlugin } from "../src/dynamodb-dlq-plugin.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { AT_ONCE, makeTable } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

const { signal } = new AbortController();

test("spec 1.6: it is shared by the instances of a cluster, and asks for the name of a table", () => {
  const accepts = (options: object): boolean => v.is(dynamodbDlqPlugin.options, options);
  expect(dynamodbDlqPlugin).toMatchObject({ type: "dynamodb", reach: "cluster" });
  expect(accepts({ table_name: "bridge-dlq" })).toBe(true);
  expect(accepts({ table_name: "bridge-dlq", retention: "336h" })).toBe(true);
  for (const options of [
    {},
    { table_name: "a b" },
    { table_name: "dlq", retention: "0s" },
    { table_name: "dlq", path: "x" },
  ]) {
    expect(accepts(options)).toBe(false);
  }
});

test("region, endpoint and credentials are those that the SDK finds, and the retention is taken", async () => {
  vi.stubEnv("AWS_REGION", dynamo.sdk.region);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", dynamo.endpoint);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  const options = v.parse(dynamodbDlqPlugin.options, { table_name: await makeTable(dynamo), retention: "1h" });
  const seams = { clock: systemClock, random: AT_ONCE, logger: silentLogger };
  await using store = await dynamodbDlqPlugin.create(options, { id: "dlq", ...seams })(signal);
  const fresh = deadLetter("fresh", { failedAt: Date.now() });
  await store.put(fresh, signal);
  await store.put(deadLetter("stale", { failedAt: Date.now() - 3_600_000 }), signal);
  expect(await store.get("fresh", signal)).toEqual(fresh);
  expect(await store.count(10, signal)).toBe(1);
});
