import { systemClock } from "@bridge/ports";
import { CredentialsEndpoint } from "@bridge/tooling/credentials-endpoint";
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
