import { BridgeError, type ErrorCode, RESERVED } from "@bridge/ports";
import { expect, test } from "vitest";
import { deadLetterOf, redrivesOf } from "../../src/route/dead-letter.ts";
import { envelopeOf } from "../support/envelope.ts";

test.each<[ErrorCode, number, string]>([
  ["UNAVAILABLE", 1, "still failing after 1 attempt"],
  ["UNAVAILABLE", 5, "still failing after 5 attempts"],
  ["BINDING_UNRESOLVED", 1, "cannot be delivered as the bridge and its target are configured"],
  ["INVALID_PAYLOAD", 1, "the message itself was refused"],
  ["MESSAGE_EXPIRED", 0, "expired before it could be delivered"],
  ["MESSAGE_FILTERED", 0, "filtered out by a processor"],
])("the dead letter of %s after %i tries says why in words: %s", (code, attempts, reason) => {
  const casualty = { received: envelopeOf(), routeId: "r", bindingId: "out", attempts, failedAt: 1 };
  expect(deadLetterOf(casualty, new BridgeError(code, "why")).reason).toBe(reason);
});

test("of an error with a whole answer in its text, a dead letter keeps the beginning", () => {
  const casualty = { received: envelopeOf(), routeId: "r", bindingId: "out", attempts: 1, failedAt: 1 };
  const { lastError } = deadLetterOf(casualty, new BridgeError("REJECTED", `why: ${"x".repeat(1_000_000)}`));
  expect(lastError).toHaveLength(8_192);
  expect(lastError).toMatch(/^why: x/);
});

test("how often a message was redriven is what its header says, and 0 when that is no such number", () => {
  for (const [header, redrives] of [
    ["3", 3],
    ["0", 0],
    ["-1", 0],
    ["1.5", 0],
    ["1e300", 0],
    ["often", 0],
  ] as const) {
    expect(redrivesOf({ [RESERVED.redrives]: header })).toBe(redrives);
  }
  expect(redrivesOf({})).toBe(0);
});
