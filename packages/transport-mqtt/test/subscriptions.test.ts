import { describe, expect, test } from "vitest";
import { Subscriptions } from "../src/subscriptions.ts";

function subscriptions(...wanted: readonly (readonly [filter: string, receiver: string])[]): Subscriptions<string> {
  const all = new Subscriptions<string>();
  for (const [filter, receiver] of wanted) all.add(filter, 1, receiver);
  return all;
}

function identifierOf(all: Subscriptions<string>, filter: string): number {
  return [...all].find((subscription) => subscription.filter === filter)!.identifier;
}

describe("the receivers of a message", () => {
  test("are those with a matching filter, each of them once", () => {
    const all = subscriptions(["a/#", "x"], ["a/+", "x"], ["a/b", "y"], ["c", "z"]);
    expect(all.receiversOf("a/b", undefined)).toEqual(["x", "y"]);
    expect(all.receiversOf("c", undefined)).toEqual(["z"]);
    expect(all.receiversOf("d", undefined)).toEqual([]);
  });

  test("are those of the subscriptions that a copy names", () => {
    const all = subscriptions(["a/#", "x"], ["a/+", "y"]);
    const [first, second] = [identifierOf(all, "a/#"), identifierOf(all, "a/+")];
    expect(all.receiversOf("a/b", first)).toEqual(["x"]);
    expect(all.receiversOf("a/b", second)).toEqual(["y"]);
    expect(all.receiversOf("a/b", [first, second])).toEqual(["x", "y"]);
  });

  test("are all with a matching filter when a copy names subscriptions of an earlier configuration", () => {
    const all = subscriptions(["a/#", "x"], ["a/+", "y"]);
    const unknown = identifierOf(subscriptions(["a/b", "w"]), "a/b");
    expect(all.receiversOf("a/b", unknown)).toEqual(["x", "y"]);
  });

  test("stay right when more topics than are remembered go by", () => {
    const all = subscriptions(["a/+", "x"]);
    for (let i = 0; i < 3_000; i++) expect(all.receiversOf(`a/${i}`, undefined)).toEqual(["x"]);
    expect(all.receiversOf("a/0", undefined)).toEqual(["x"]);
  });

  test("include one that is added later", () => {
    const all = subscriptions(["a", "x"]);
    expect(all.receiversOf("a", undefined)).toEqual(["x"]);
    all.add("a", 1, "y");
    expect(all.receiversOf("a", undefined)).toEqual(["x", "y"]);
  });
});

describe("copies have to be told apart", () => {
  test("when filters of different receivers overlap", () => {
    expect(subscriptions(["a/#", "x"], ["a/b", "y"]).ambiguous).toBe(true);
    expect(subscriptions(["$share/g/a/#", "x"], ["a/b", "y"]).ambiguous).toBe(true);
  });

  test("not when they do not, or are of the same receivers", () => {
    expect(subscriptions(["a/#", "x"], ["b/#", "y"]).ambiguous).toBe(false);
    expect(subscriptions(["a/#", "x"], ["a/b", "x"]).ambiguous).toBe(false);
    expect(subscriptions(["a", "x"], ["a", "y"]).ambiguous).toBe(false);
  });
});

test("QoS 2 is asked for as QoS 1, and one filter with the highest that any receiver wants", () => {
  const all = new Subscriptions<string>();
  all.add("a", 0, "x");
  expect([...all].map(({ qos }) => qos)).toEqual([0]);
  all.add("a", 2, "y");
  expect([...all].map(({ qos }) => qos)).toEqual([1]);
});

test("the identifier of a filter does not depend on the other filters", () => {
  const one = identifierOf(subscriptions(["a/#", "x"], ["b", "y"]), "b");
  const other = identifierOf(subscriptions(["b", "x"]), "b");
  expect(one).toBe(other);
  expect(one).toBeGreaterThan(0);
  expect(one).toBeLessThanOrEqual(268_435_455);
});
