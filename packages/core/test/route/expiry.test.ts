import { expect, test } from "vitest";
import { expiryOf } from "../../src/route/expiry.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("a message may be sent until its expiry, and at that very moment", () => {
  const clock = new FakeClock();
  const now = clock.now();
  expect(expiryOf(envelopeOf({}), clock)).toBeUndefined();
  expect(expiryOf(envelopeOf({ expiresAt: now + 1 }), clock)).toBeUndefined();
  expect(expiryOf(envelopeOf({ expiresAt: now }), clock)).toBeUndefined();
});

test("one that has expired is not charged: nothing was tried", () => {
  const clock = new FakeClock();
  expect(expiryOf(envelopeOf({ expiresAt: clock.now() - 1 }), clock)).toMatchObject({
    code: "MESSAGE_EXPIRED",
    charged: false,
  });
});
