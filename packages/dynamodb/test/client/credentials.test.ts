import { systemClock } from "@bridge/ports";
import { CredentialsEndpoint } from "@bridge/tooling/credentials-endpoint";
import { KeyService } from "@bridge/tooling/key-service";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clientOf, getNote, makeNotes } from "./support/notes.ts";

const TABLE = "notes";
let dynamo: TestDynamo;
beforeAll(async () => {
  dynamo = await testDynamo();
  await makeNotes(dynamo, TABLE);
});
afterAll(() => dynamo[Symbol.asyncDispose]());

test("credentials that expired while their endpoint was silent are got once it speaks again", async () => {
  await using endpoint = await CredentialsEndpoint.start(500);
  const { endpoint: url, region } = dynamo.sdk;
  await using client = clientOf(dynamo, {
    clock: systemClock,
    callTimeoutMs: 1_000,
    sdk: { endpoint: url, region },
  });
  const get = () => client.send(getNote(TABLE, "any"), new AbortController().signal);
  await get();
  endpoint.silent = true;
  await vi.waitFor(() => expect(get()).rejects.toThrow(/./), { timeout: 60_000, interval: 100 });
  endpoint.silent = false;
  await vi.waitFor(get, { timeout: 60_000, interval: 100 });
});

test("requests of a key that was revoked are signed anew and made once more, all that were refused at once", async () => {
  await using service = await KeyService.start({ ConsumedCapacity: { TableName: TABLE, CapacityUnits: 1 } });
  await using endpoint = await CredentialsEndpoint.start(3_600_000);
  await using client = clientOf(dynamo, { sdk: { endpoint: service.url, region: "us-east-1" } });
  const get = () => client.send(getNote(TABLE, "any"), new AbortController().signal);
  await get();
  service.revoked.add("KEY1");
  await Promise.all(Array.from({ length: 10 }, get));
  const ten = (key: string) => Array<string>(10).fill(key);
  expect(service.signers.toSorted()).toEqual(["KEY1", ...ten("KEY1"), ...ten("KEY2")]);
  expect(endpoint.asked).toBe(2);
});
