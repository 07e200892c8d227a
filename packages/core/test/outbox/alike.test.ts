import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { isAlike } from "../../src/outbox/alike.ts";

const full = new BridgeError("UNAVAILABLE", "disk full");

describe("two failures say the same", () => {
  test.each([
    ["disk full", "disk full"],
    ["no answer to req-7f3a after 30 s", "no answer to req-81bc after 31 s"],
    ["no answer to 17", "no answer to "],
  ])("when only ids, times and counts differ: %s", (one, other) => {
    expect(isAlike(new BridgeError("TIMEOUT", one), new BridgeError("TIMEOUT", other))).toBe(true);
  });

  test("not when their words differ", () => {
    expect(isAlike(full, new BridgeError("UNAVAILABLE", "disk gone"))).toBe(false);
  });

  test("not when their codes differ", () => {
    expect(isAlike(full, new BridgeError("TIMEOUT", "disk full"))).toBe(false);
  });

  test("not when there was none before", () => {
    expect(isAlike(undefined, full)).toBe(false);
  });
});
