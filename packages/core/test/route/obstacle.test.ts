import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { hindranceOf, obstacleOf } from "../../src/route/obstacle.ts";
import type { RouteParts } from "../../src/route/route-parts.ts";

const up = { sessionId: "up", role: "target", connected: true };
const down = { sessionId: "s1", role: "target", connected: false };
const leased = (elsewhere: boolean) => ({ ...down, lease: { held: false, elsewhere } });

function obstacle({
  paused = false,
  sourceLink = up as unknown,
  link = up as unknown,
  lost = false,
  dlq = undefined as BridgeError | undefined,
  outbox = undefined as string | undefined,
}): string | undefined {
  const targets = new Map([
    ["a", { link: up }],
    ["b", { link }],
    ["unlinked", {}],
  ]);
  const parts = { control: { pause: { paused } }, sourceLink, targets, intake: { id: "r1", lost } };
  return obstacleOf(parts as unknown as RouteParts, dlq, outbox);
}

test("nothing stands in the way of a route whose sessions are connected and whose stores take writes", () => {
  expect(obstacle({})).toBeUndefined();
  expect(obstacle({ sourceLink: undefined })).toBeUndefined();
});

test("what stands in the way is told in words, what has to be mended first before the rest", () => {
  const dlq = new BridgeError("UNAVAILABLE", "disk full");
  const lastError = new BridgeError("UNAVAILABLE", "no such user");
  const refused = "the DLQ store does not take what is written to it: UNAVAILABLE, disk full";
  expect(obstacle({ outbox: "the outbox is full" })).toBe("the outbox is full");
  expect(obstacle({ outbox: "the outbox is full", dlq })).toBe(refused);
  expect(obstacle({ dlq, lost: true })).toBe("receiver r1 has lost its source");
  expect(obstacle({ lost: true, link: down })).toBe("session s1 (target) is not connected");
  expect(obstacle({ sourceLink: { ...down, sessionId: "s0", role: "source", lastError }, link: down })).toBe(
    "session s0 (source) is not connected: UNAVAILABLE, no such user",
  );
  expect(obstacle({ link: down, paused: true })).toBe("an operator has paused it");
});

test("a session without its lease is not connected for that reason", () => {
  expect(obstacle({ link: leased(true) })).toBe("another instance holds the lease of session s1");
  expect(obstacle({ link: leased(false) })).toBe("the lease of session s1 is not held");
});

function hindrance({ sourceLink = undefined as unknown, outboxMs = 0, dlqMs = 0 }): string | undefined {
  const storeCalls = { outbox: { oldestMs: outboxMs }, dlq: { oldestMs: dlqMs } };
  return hindranceOf({ sourceLink, storeCalls, config: { policy: { sendTimeoutMs: 5_000 } } } as unknown as RouteParts);
}

test("a source that does not have all subscriptions, and a store that is slow to answer, are told with their figures", () => {
  const subscribed = (subscriptionsActive: number) => ({
    sessionId: "s0",
    subscriptionsActive,
    subscriptionsWanted: 2,
  });
  expect(hindrance({ sourceLink: subscribed(1), dlqMs: 9_000 })).toBe("session s0 lacks subscriptions: 1 of 2");
  expect(hindrance({ sourceLink: subscribed(2), dlqMs: 6_400, outboxMs: 4_999 })).toBe(
    "the DLQ store has not answered for 6 s",
  );
  expect(hindrance({ outboxMs: 5_000, dlqMs: 9_000 })).toBe("the outbox store has not answered for 5 s");
  expect(hindrance({ sourceLink: subscribed(2) })).toBeUndefined();
});
