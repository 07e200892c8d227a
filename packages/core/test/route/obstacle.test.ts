import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { obstacleOf } from "../../src/route/obstacle.ts";
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
