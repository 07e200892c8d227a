import { describe, expect, it } from "vitest";
import { type ResolverConfig } from "../src/index.ts";
import { goodDocument, type Json, parsed, problemsOf, warningsOf, withValue } from "./support/documents.ts";

/** A route over bindings a, b and c. */
function route(dispatch: "single" | "fan_out", resolver?: unknown): Json {
  const document = goodDocument();
  document["bindings"] = ["a", "b", "c"].map((id) => ({ id, sender_id: "out" }));
  document["routes"] = [{ id: "r", receiver_id: "in", dispatch_mode: dispatch, bindings: ["a", "b", "c"] }];
  document["processors"] = [];
  return resolver === undefined ? document : withValue("routes.0.resolver", resolver, document);
}

function resolverOf(dispatch: "single" | "fan_out", resolver?: unknown): ResolverConfig | undefined {
  return parsed(route(dispatch, resolver)).routes[0]?.resolver;
}

describe("the resolver of a route", () => {
  it("is the first binding in single, and all in fan_out, when none is written", () => {
    expect(resolverOf("single")).toEqual({ type: "static", bindings: ["a"] });
    expect(resolverOf("fan_out")).toEqual({ type: "all" });
  });

  it("takes one id or a list of ids wherever it chooses", () => {
    expect(resolverOf("fan_out", { type: "static", binding: "b" })).toEqual({ type: "static", bindings: ["b"] });
    expect(resolverOf("fan_out", { type: "static", binding: ["b", "c"] })).toMatchObject({ bindings: ["b", "c"] });
    expect(resolverOf("fan_out", { type: "header_map", header: "X-Kind", map: { "1": "a", x: ["b", "c"] } })).toEqual({
      type: "header_map",
      header: "x-kind",
      map: new Map([
        ["1", ["a"]],
        ["x", ["b", "c"]],
      ]),
      defaultBindings: [],
    });
  });

  it("takes one condition or a list of them, with a value that fits the operator", () => {
    const rules = [
      { when: { field: "header.X-Kind", op: "eq", value: "alarm" }, binding: "a" },
      { when: { field: "$.a[0].b", op: "gt", value: 5 }, binding: "b" },
      { when: [{ field: "subject", op: "exists" }], binding: "c" },
      { when: { field: "subject", op: "in", value: ["x", 1, true] }, binding: "c" },
    ];
    expect(resolverOf("single", { type: "rules", rules, default_binding: "a" })).toEqual({
      type: "rules",
      rules: [
        { when: [{ field: "header.x-kind", op: "eq", value: "alarm" }], bindings: ["a"] },
        { when: [{ field: "$.a[0].b", op: "gt", value: 5 }], bindings: ["b"] },
        { when: [{ field: "subject", op: "exists", value: true }], bindings: ["c"] },
        { when: [{ field: "subject", op: "in", value: ["x", 1, true] }], bindings: ["c"] },
      ],
      defaultBindings: ["a"],
    });
  });

  it.each([
    ["eq", [1]],
    ["prefix", 1],
    ["regex", "("],
    ["gt", true],
    ["in", "x"],
    ["in", []],
    ["exists", "yes"],
    ["contains", null],
    ["lt", Number.POSITIVE_INFINITY],
  ])("refuses %s with a value that does not fit it", (op, value) => {
    const rules = [{ when: { field: "subject", op, value }, binding: "a" }];
    const problems = problemsOf(route("single", { type: "rules", rules }));
    expect(problems).toEqual([expect.stringMatching(/^routes\[0\]\.resolver\.rules\[0\]\.when\.value\b/)]);
  });

  it.each(["topic", "header.", "header.a b", "$", "$.", "$x", "$.a[x]", ""])("refuses the field %j", (field) => {
    const rules = [{ when: [{ field, op: "exists" }], binding: "a" }];
    const problems = problemsOf(route("single", { type: "rules", rules }));
    expect(problems).toEqual([expect.stringMatching(/when\[0\]\.field: not a field: write "subject"/)]);
  });

  it("chooses exactly one binding in single", () => {
    const several = /chooses several bindings, and dispatch_mode single sends to one/;
    expect(problemsOf(route("single", { type: "all" }))).toEqual([expect.stringMatching(several)]);
    expect(problemsOf(route("single", { type: "static", binding: ["a", "b"] }))).toEqual([
      expect.stringMatching(several),
    ]);
    expect(problemsOf(route("fan_out", { type: "all" }))).toEqual([]);
  });

  it("chooses among the bindings of its route, each once", () => {
    expect(problemsOf(route("fan_out", { type: "static", binding: ["a", "to-a"] }))).toEqual([
      'routes[0].resolver.binding[1]: "to-a" is not among the bindings of the route; add it to the bindings of the route',
    ]);
    expect(problemsOf(route("fan_out", { type: "static", binding: ["a", "a"] }))).toEqual([
      "routes[0].resolver.binding[1]: names a binding that the list has already: remove it",
    ]);
    expect(problemsOf(withValue("routes.0.bindings", ["a", "b", "a"], route("fan_out")))).toEqual([
      "routes[0].bindings[2]: names a binding that the list has already: remove it",
    ]);
  });

  it("must be able to choose something", () => {
    const nothing = "routes[0].resolver: never chooses a binding: give it choices, or a default_binding";
    expect(problemsOf(route("single", { type: "rules" }))).toEqual([nothing]);
    expect(problemsOf(route("single", { type: "header_map", header: "x", map: {} }))).toEqual([nothing]);
  });

  it("names the right spelling for a key or type that is near to it", () => {
    expect(problemsOf(route("single", { type: "static", bindings: ["a"] }))).toEqual([
      'routes[0].resolver.bindings: unknown key; did you mean "binding"?',
      "routes[0].resolver.binding: is required",
    ]);
    expect(problemsOf(route("single", { type: "rule" }))).toEqual([
      'routes[0].resolver.type: expected one of all, static, rules, header_map; did you mean "rules"? (got "rule")',
    ]);
    expect(problemsOf(route("single", {}))).toEqual([
      "routes[0].resolver.type: is required: one of all, static, rules, header_map",
    ]);
  });

  it("warns of bindings that never get a message", () => {
    expect(warningsOf(route("single"))).toEqual([
      expect.stringContaining('routes[0].bindings[1]: "b" gets no message: without a resolver'),
      expect.stringContaining('routes[0].bindings[2]: "c" gets no message'),
    ]);
    expect(
      warningsOf(route("single", { type: "header_map", header: "x", map: { "1": "b" }, default_binding: "c" })),
    ).toEqual(['routes[0].bindings[0]: "a" gets no message: the resolver never chooses it']);
    expect(warningsOf(route("fan_out"))).toEqual([]);
  });
});
