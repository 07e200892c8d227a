import { type DlqAdmin, type DlqStore, silentLogger } from "@bridge/ports";
import { afterEach, expect, test, vi } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { DeadLetterWriter } from "../../src/dlq/dead-letter-writer.ts";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { redrive, type RedriveTarget } from "../../src/dlq/redrive.ts";
import { FailureLog } from "../../src/route/failure-log.ts";
import { StoreCalls } from "../../src/route/store-calls.ts";
import { deadLetterOf } from "../../src/route/dead-letter.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { refusal } from "../support/memory-bridge.ts";
import { noHooks } from "../support/no-hooks.ts";

afterEach(() => void vi.useRealTimers());

test("a DLQ that never answers has failed after 20 s, and is not called any more", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const clock = new FakeClock();
  let bound: AbortSignal | undefined;
  const put: DlqStore["put"] = (_, signal) => {
    bound = signal;
    return new Promise(() => {});
  };
  const account = new Accounts().route("r");
  const storeCalls = { dlq: new StoreCalls(clock), outbox: new StoreCalls(clock) };
  const dlq = () => ({ put }) as unknown as DlqStore;
  const logger = silentLogger;
  const writer = new DeadLetterWriter({
    dlq,
    clock,
    account,
    storeCalls,
    logger,
    failureLog: new FailureLog(logger, clock),
    hooks: noHooks,
    tracer: undefined,
  });
  const given = { received: envelopeOf(), routeId: "r", bindingId: "out", attempts: 1, failedAt: 0 };
  const written = writer.write(deadLetterOf(given, refusal), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(bound?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await written).toMatchObject({ code: "TIMEOUT" });
  expect([bound?.aborted, account.dlqWriteFailures]).toEqual([true, 1]);
});

test("a redrive that nobody bounds waits 10 s for an entry, and lets others have it then", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const busy = new Set<string>();
  const store = { get: () => new Promise(() => {}) } as unknown as DlqStore & { readonly admin: DlqAdmin };
  const redriven = redrive({
    ids: ["e1"],
    store,
    target: { deliveryMode: () => undefined } as unknown as RedriveTarget,
    busy,
    delivered: new DeliveredEntries(),
    clock: new FakeClock(),
    logger: silentLogger,
    signal: new AbortController().signal,
    mayBegin: () => true,
  });
  await vi.advanceTimersByTimeAsync(9_000);
  expect([...busy]).toEqual(["e1"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(busy.size).toBe(0);
  expect(await redriven).toMatchObject({
    failed: 1,
    errors: [{ id: "e1", error: "the DLQ store failed: the DLQ store did not answer" }],
  });
});
