import { describe, expect, test } from "vitest";
import { BridgeError, ReadOnlyConfigError } from "../src/index.ts";
import { knownAcrossCopies } from "../src/known-across-copies.ts";

/** As another copy of its package has it. */
function copy() {
  class Refusal extends Error {
    static {
      knownAcrossCopies(this, "test-refusal");
    }
  }
  class Harsh extends Refusal {}
  return { Refusal, Harsh };
}

describe("a class that is known across copies", () => {
  const [one, other] = [copy(), copy()];

  test("knows what each copy of it, and each subclass of a copy, has made", () => {
    for (const { Refusal, Harsh } of [one, other])
      for (const error of [new Refusal(), new Harsh()]) expect(error).toBeInstanceOf(one.Refusal);
  });

  test("a subclass knows its own alone", () => {
    expect(new one.Harsh()).toBeInstanceOf(one.Harsh);
    expect(new one.Refusal()).not.toBeInstanceOf(one.Harsh);
    expect(new other.Harsh()).not.toBeInstanceOf(one.Harsh);
  });

  const spiteful = new Proxy(
    {},
    {
      has() {
        throw new Error("look away");
      },
    },
  );
  test.each([undefined, null, 0, "", Symbol("x"), {}, new Error("x"), () => {}, spiteful])("knows no %#", (value) => {
    expect(value instanceof one.Refusal).toBe(false);
  });

  test("errors of one kind are not those of another", () => {
    expect(new ReadOnlyConfigError("x")).not.toBeInstanceOf(BridgeError);
    expect(new BridgeError("TIMEOUT", "x")).not.toBeInstanceOf(ReadOnlyConfigError);
    expect(Object.keys(new ReadOnlyConfigError("x"))).toEqual([]);
  });
});
