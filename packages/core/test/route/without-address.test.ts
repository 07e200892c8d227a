import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { withoutAddress } from "../../src/route/without-address.ts";

test("an error that does not quote the address is told as it was thrown", () => {
  const thrown = new BridgeError("REJECTED", "no");
  expect(withoutAddress(thrown, "plant/secret-place")).toBe(thrown);
});

test("of one that quotes it only that is told which decides what becomes of the message", () => {
  const told = { retryAfterMs: 7, charged: false };
  const thrown = new BridgeError("DESTINATION_NOT_FOUND", 'no exchange "plant/secret-place"', told);
  const shown = withoutAddress(thrown, "plant/secret-place");
  expect(shown).toMatchObject({
    code: "DESTINATION_NOT_FOUND",
    message: "the error quotes an address that came in through a reference",
    ...told,
  });
  expect(shown).not.toHaveProperty("cause");
});
