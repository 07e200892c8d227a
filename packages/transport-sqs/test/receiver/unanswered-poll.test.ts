import type { SQSClient } from "@aws-sdk/client-sqs";
import type { BridgeError, Clock } from "@bridge/ports";
import { systemClock, systemRandom } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { Polls } from "../../src/receiver/polls.ts";

test("a poll that is never answered in full, or waits for credentials for ever, is given up, and the failure is told", async () => {
  const bounds: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    delay: (ms) => new Promise((resolve) => void (ms === 12_000 && bounds.push(resolve))),
  };
  let signal: AbortSignal | undefined;
  const send = (_command: object, options: { readonly abortSignal: AbortSignal }) => {
    signal = options.abortSignal;
    return new Promise<never>(() => {});
  };
  const failures: BridgeError[] = [];
  const polls = new Polls({
    client: { send } as unknown as SQSClient,
    queueUrl: "http://127.0.0.1/0/q",
    fifo: false,
    bounds: () => ({ size: 10, limit: 1 }),
    waitMs: 2_000,
    visibilityMs: 30_000,
    clock,
    random: systemRandom(),
    onMessages: () => {},
    onAnswer: () => {},
    onFailure: (error) => failures.push(error),
  });
  polls.advance(10);
  await vi.waitFor(() => expect(bounds).toHaveLength(1));
  expect(polls.running).toBe(1);
  bounds[0]?.();
  await polls.whenEnded();
  expect(failures).toMatchObject([{ code: "TIMEOUT", class: "transient" }]);
  expect(signal?.aborted).toBe(true);
});
