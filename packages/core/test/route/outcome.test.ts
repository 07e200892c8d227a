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

test("of two legs the graver one speaks, whichever comes first", () => {
  const order = [
    "abandoned",
    "released",
    "dead_lettered",
    "dropped",
    "expired",
    "filtered",
    "duplicate",
    "persisted",
    "delivered",
  ] as const;
  for (const [at, graver] of order.entries()) {
    for (const lighter of order.slice(at)) {
      const legs = [
        { disposition: graver, bindingId: "a" },
        { disposition: lighter, bindingId: "b" },
      ];
      expect(summarise(legs).disposition).toBe(graver);
      expect(summarise(legs.toReversed()).disposition).toBe(graver);
    }
  }
});

test("a leg that was persisted is handed on, and one that ended before a binding was chosen names none", () => {
  const outcome = summarise([
    { disposition: "persisted", bindingId: "a", recordId: "1" },
    { disposition: "duplicate", bindingId: "b", recordId: "2" },
    { disposition: "dropped", bindingId: "" },
  ]);
  expect(outcome.failedBindings).toEqual(["b"]);
  expect(outcome.records?.map(({ recordId }) => recordId)).toEqual(["1", "2"]);
  expect(summarise([{ disposition: "dropped", bindingId: "a" }])).not.toHaveProperty("records");
});
