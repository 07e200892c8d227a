import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { summarise } from "../../src/route/outcome.ts";

test("a delivery without legs has left nothing undelivered", () => {
  expect(summarise([])).toEqual({
    disposition: "delivered",
    error: undefined,
    delayMs: undefined,
    failedBindings: [],
  });
});

test("the gravest leg says what became of all, why, and when it is to come again", () => {
  const error = new BridgeError("UNAVAILABLE", "away");
  const outcome = summarise([
    { disposition: "delivered", bindingId: "a" },
    { disposition: "released", bindingId: "b", error, delayMs: 7 },
    { disposition: "persisted", bindingId: "c", recordId: "r" },
  ]);
  expect(outcome).toEqual({
    disposition: "released",
    error,
    delayMs: 7,
    failedBindings: ["b"],
    records: [{ disposition: "persisted", bindingId: "c", recordId: "r" }],
  });
});
