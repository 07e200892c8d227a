import { BridgeError, type ErrorCode } from "@bridge/ports";
import { expect, test } from "vitest";
import { deadLetterOf } from "../../src/route/dead-letter.ts";
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
