import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { patientClock } from "@bridge/conformance";
import { BridgeError, type Clock, type ErrorCode } from "@bridge/ports";
import { type DynamoFault, testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { DynamoClient } from "../../src/client/dynamo-client.ts";
import { AT_ONCE, clientOf, getNote, makeNotes, putNote } from "./support/notes.ts";

const TABLE = "notes";
const SECRET = "what the note says";
const signal = new AbortController().signal;
let dynamo: TestDynamo;
let notes = 0;

beforeAll(async () => {
  dynamo = await testDynamo();
  await makeNotes(dynamo, TABLE);
});
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => {
  dynamo.reset();
  notes++;
});

function put() {
  return putNote(TABLE, `note-${notes}`, SECRET);
}

function get() {
  return getNote(TABLE, `note-${notes}`);
}

// What the SDK does when it finds none; its type says string.
const noRegion = (() => Promise.reject(new Error("Region is missing"))) as unknown as string;

async function rejection(promise: Promise<unknown>): Promise<BridgeError> {
  const error: unknown = await promise.then(
    () => assert.fail("it resolved"),
    (thrown: unknown) => thrown,
  );
  assert.ok(BridgeError.is(error), `no BridgeError: ${String(error)}`);
  return error;
}

describe("what passes is tried again", () => {
  test.each<[string, DynamoFault]>([
    ["throttling of the table", { error: "ProvisionedThroughputExceededException" }],
    ["throttling of the account", { error: "RequestLimitExceeded" }],
    ["throttling", { error: "ThrottlingException" }],
    ["a failure of the service", { error: "InternalServerError", status: 500 }],
    ["an error of a proxy that is none of the service's", { error: "Oops", status: 503 }],
    ["a connection that is cut", "cut"],
    ["an answer that is lost", "lose-answer"],
    ["a page of a proxy", { page: 200 }],
    ["a page that a proxy refuses with", { page: 407 }],
    ["finding 6.17: an answer that says yes and is empty", "empty"],
  ])("%s", async (_, fault) => {
    await using client = clientOf(dynamo);
    dynamo.inject("GetItem", fault, 2);
    await client.send(get(), signal);
    expect(dynamo.operations).toEqual(["GetItem", "GetItem", "GetItem"]);
    expect(client.health()).toEqual({ setAside: [] });
  });

  test.each<DynamoFault>(["hang", "hang-after"])("a request that is never answered: %s", async (fault) => {
    await using client = clientOf(dynamo, { tryTimeoutMs: 20 });
    dynamo.inject("GetItem", fault, 2);
    await client.send(get(), signal);
    expect(dynamo.operations.length).toBeGreaterThan(2);
  });

  /** A clock that keeps what was waited for: the time of each try. */
  function timing() {
    const tries: number[] = [];
    const delay: Clock["delay"] = (ms, aborted) => {
      if (ms > 0) tries.push(ms);
      return patientClock.delay(ms, aborted);
    };
    return { tries, clock: { ...patientClock, delay } };
  }

  test.each<[string, DynamoFault, number | undefined, readonly number[]]>([
    [
      "more time after one that was not answered, so that what is long on its way arrives",
      "hang",
      undefined,
      [20, 40, 80, 160, 320],
    ],
    ["never more than the longest", "hang", 50, [20, 40, 50, 50, 50]],
    ["no more after one that has failed otherwise", { error: "ThrottlingException" }, undefined, [20, 20, 20, 20, 20]],
  ])("finding 6.7: a request has %s", async (_, fault, longestTryMs, expected) => {
    const { tries, clock } = timing();
    await using client = clientOf(dynamo, { tryTimeoutMs: 20, longestTryMs, clock });
    dynamo.inject("GetItem", fault, 4);
    await client.send(get(), signal);
    expect(tries).toEqual(expected);
  });

  test.each<[DynamoFault, boolean]>([
    ["hang", false],
    [{ error: "ThrottlingException" }, true],
  ])(
    "finding 6.7: what several tries have met is told before the call is given up, but not that they were late: %j",
    async (fault, told) => {
      await using client = clientOf(dynamo, { tryTimeoutMs: 20 });
      const seen: boolean[] = [];
      dynamo.choose = () => {
        seen.push(client.health().fault !== undefined);
        return seen.length < 5 ? fault : undefined;
      };
      await client.send(get(), signal);
      expect(seen).toHaveLength(5);
      expect(seen.includes(true)).toBe(told);
    },
  );

  test.each([10, -10])(
    "finding 6.2: a request signed by a clock that is %i minutes off, and one after the clock was put right",
    async (minutes) => {
      await using client = clientOf(dynamo);
      for (const ahead of [minutes, 2 * minutes, -minutes, 0]) {
        dynamo.ahead = ahead * 60_000;
        await client.send(get(), signal);
      }
      expect(dynamo.operations).toHaveLength(8);
    },
  );

  test("until the time of the call is up", async () => {
    let now = 0;
    await using client = clientOf(dynamo, { callTimeoutMs: 10_000, clock: { ...patientClock, monotonic: () => now } });
    dynamo.choose = () => {
      now += 1_000;
      return { error: "ThrottlingException" };
    };
    const error = await rejection(client.send(get(), signal));
    expect(error).toMatchObject({ code: "THROTTLED", charged: false });
    expect(dynamo.operations).toHaveLength(10);
    expect(client.health().fault).toContain("throttled");
  });

  test("a service that cannot be reached fails as CONNECTION_LOST", async () => {
    const sdk = { ...dynamo.sdk, endpoint: "http://127.0.0.1:1" };
    await using client = clientOf(dynamo, { callTimeoutMs: 50, random: { next: () => 1, id: () => "" }, sdk });
    expect(await rejection(client.send(get(), signal))).toMatchObject({ code: "CONNECTION_LOST", charged: false });
  });

  test("a service that never answers fails as TIMEOUT when the time of the call is up, however long a try might take", async () => {
    const { tries, clock } = timing();
    await using client = clientOf(dynamo, { callTimeoutMs: 20, tryTimeoutMs: 3_000, clock });
    dynamo.inject("GetItem", "hang", 100);
    expect(await rejection(client.send(get(), signal))).toMatchObject({ code: "TIMEOUT", charged: false });
    expect(Math.max(...tries)).toBeLessThanOrEqual(20);
  });
});

describe("what does not pass is told at once", () => {
  test.each<[string, ErrorCode]>([
    ["AccessDeniedException", "NOT_AUTHORIZED"],
    ["UnrecognizedClientException", "NOT_AUTHORIZED"],
    ["ExpiredTokenException", "NOT_AUTHORIZED"],
    ["ResourceNotFoundException", "DESTINATION_NOT_FOUND"],
    ["ItemCollectionSizeLimitExceededException", "PAYLOAD_TOO_LARGE"],
    ["ValidationException", "REJECTED"],
    ["RequestTimeTooSkewed", "UNAVAILABLE"],
    ["SomethingNewException", "INTERNAL"],
  ])("%s is %s", async (name, code) => {
    await using client = clientOf(dynamo);
    dynamo.inject("PutItem", { error: name });
    const error = await rejection(client.send(put(), signal));
    expect(error).toMatchObject({ code, charged: false });
    expect(error.message).toContain(`PutItem on table ${TABLE}`);
    expect(error.message).toContain(name);
    expect(dynamo.operations.filter((operation) => operation === "PutItem")).toHaveLength(1);
  });

  test("a table that is not there is named, with the remedy", async () => {
    await using client = clientOf(dynamo);
    const error = await rejection(client.send(getNote("nowhere", "a"), signal));
    expect(error.code).toBe("DESTINATION_NOT_FOUND");
    expect(error.message).toMatch(/GetItem on table nowhere: there is no such table.*bridge-aws -create-tables/);
  });

  test("no error repeats what the item holds, nor what the service wrote", async () => {
    await using client = clientOf(dynamo);
    // A number that is none makes the service repeat it.
    const command = put();
    command.input.Item = { id: { S: "n" }, text: { N: SECRET } };
    const error = await rejection(client.send(command, signal));
    const { inspect } = await import("node:util");
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
  });

  test.each([200, 302, 403, 407, 503])("a page with status %i says where it came from", async (status) => {
    await using client = clientOf(dynamo);
    dynamo.choose = () => ({ page: status });
    const given = new AbortController();
    const sending = client.send(get(), given.signal).catch(() => {});
    const { code, message } = await vi.waitUntil(() => client.failure, { timeout: 20_000 });
    given.abort();
    await sending;
    expect(code).toBe("CONNECTION_LOST");
    expect(message).toContain(`GetItem on table ${TABLE}: the answer is none of DynamoDB's, or was cut off`);
    expect(message).toContain(`from ${dynamo.endpoint}, status ${status}`);
  });

  test("without a region the remedy is named", async () => {
    await using client = new DynamoClient({
      clock: patientClock,
      random: AT_ONCE,
      sdk: { ...dynamo.sdk, region: noRegion },
    });
    const error = await rejection(client.requireRegion());
    expect(error.message).toBe(
      "no usable AWS region is configured: set AWS_REGION, or a region in the AWS profile, to one such as eu-central-1",
    );
  });
});

describe("a write under a condition", () => {
  test("is made once, whoever else tries", async () => {
    await using client = clientOf(dynamo);
    const results = await Promise.all(Array.from({ length: 20 }, () => client.sendIf(put(), signal)));
    expect(results.filter(({ made }) => made)).toHaveLength(1);
    expect(results.filter((result) => !result.made && !result.unsure)).toHaveLength(19);
  });

  test.each<[DynamoFault, boolean]>([
    ["lose-answer", true],
    ["hang-after", true],
    ["cut", true],
    [{ error: "InternalServerError", status: 500 }, true],
    [{ error: "ThrottlingException" }, false],
  ])("that is refused after %j tells whether the condition may have met one's own write", async (fault, unsure) => {
    await using client = clientOf(dynamo, { tryTimeoutMs: fault === "hang-after" ? 50 : undefined });
    const done = fault === "lose-answer" || fault === "hang-after";
    if (!done) await client.send(put(), signal);
    dynamo.inject("PutItem", fault);
    expect(await client.sendIf(put(), signal)).toEqual({ made: false, unsure });
    expect(client.health()).toEqual({ setAside: [] });
  });
});

describe("the end of a call", () => {
  const reason = new Error("given up");

  test("the caller's reason is what it rejects with", async () => {
    await using client = clientOf(dynamo);
    dynamo.inject("GetItem", "hang");
    const caller = new AbortController();
    const call = client.send(get(), caller.signal);
    await expect.poll(() => dynamo.operations.length).toBe(1);
    caller.abort(reason);
    await assert.rejects(call, (error) => error === reason);
    expect(client.health()).toEqual({ setAside: [] });
  });

  test("between two tries too, and the failure of the last one is told of", async () => {
    const caller = new AbortController();
    const pauseMs = 50;
    const delay: typeof patientClock.delay = (ms, ended) => {
      if (ms === pauseMs) caller.abort(reason);
      return patientClock.delay(ms, ended);
    };
    await using client = clientOf(dynamo, {
      random: { next: () => 1, id: () => "" },
      clock: { ...patientClock, delay },
    });
    dynamo.inject("GetItem", { error: "ThrottlingException" });
    await assert.rejects(client.send(get(), caller.signal), (error) => error === reason);
    expect(client.health().fault).toContain("throttled");
    await client.send(get(), signal);
    expect(client.health()).toEqual({ setAside: [] });
  });

  test("leaves no listener on the signal", async () => {
    await using client = clientOf(dynamo);
    await Promise.all([client.send(get(), signal), client.sendIf(put(), signal)]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("a client that is closed ends what is under way, and takes no more", async () => {
    const client = clientOf(dynamo);
    dynamo.inject("GetItem", "hang");
    const call = client.send(get(), signal);
    await expect.poll(() => dynamo.operations.length).toBe(1);
    await client[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    for (const late of [call, client.send(get(), signal)]) {
      expect(await rejection(late)).toMatchObject({ code: "UNAVAILABLE", message: "the store is closed" });
    }
  });
});

test("more calls than connections wait for their turn, in order, and an abandoned one gives its turn on", async () => {
  await using client = clientOf(dynamo);
  const caller = new AbortController();
  dynamo.inject("GetItem", "hang", 50);
  const hanging = Array.from({ length: 50 }, () => client.send(get(), caller.signal));
  const waiting = client.send(get(), caller.signal);
  const next = client.send(get(), signal);
  await expect.poll(() => dynamo.operations.length).toBe(50);
  caller.abort(new Error("given up"));
  await Promise.allSettled([...hanging, waiting]);
  await next;
  expect(dynamo.operations).toHaveLength(51);
});

test("finding 6.17: what an empty yes stands for is neither taken for written nor for not there", async () => {
  let now = 0;
  await using client = clientOf(dynamo, { callTimeoutMs: 300, clock: { ...patientClock, monotonic: () => now } });
  await client.send(put(), signal);
  const { input } = put();
  const calls = [
    () => client.send(new PutItemCommand(input), signal),
    () => client.send(new DeleteItemCommand({ TableName: TABLE, Key: { id: input.Item!["id"]! } }), signal),
    () =>
      client.send(
        new BatchWriteItemCommand({ RequestItems: { [TABLE]: [{ PutRequest: { Item: input.Item } }] } }),
        signal,
      ),
    () => client.send(get(), signal),
    () =>
      client.send(
        new BatchGetItemCommand({ RequestItems: { [TABLE]: { Keys: [{ id: input.Item!["id"]! }] } } }),
        signal,
      ),
    () => client.send(new ScanCommand({ TableName: TABLE }), signal),
  ];
  dynamo.choose = () => {
    now += 100;
    return "empty";
  };
  for (const call of calls) {
    expect(await rejection(call())).toMatchObject({ class: "transient", charged: false });
  }
  dynamo.reset();
  expect((await client.send(get(), signal)).Item).toEqual(input.Item);
});

test("what requests consume is told", async () => {
  const told: unknown[] = [];
  await using client = clientOf(dynamo, { onConsumed: (consumed) => told.push(consumed) });
  await client.send(put(), signal);
  await client.send(get(), signal);
  expect(told).toEqual([
    { operation: "PutItem", units: 1 },
    { operation: "GetItem", units: 1 },
  ]);
});
