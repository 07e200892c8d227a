import type { Condition } from "@bridge/config";
import { describe, expect, test } from "vitest";
import { compileCondition, Subject } from "../../src/route/condition.ts";
import { compileResolver } from "../../src/route/resolver.ts";
import { envelopeOf } from "../support/envelope.ts";

const message = envelopeOf({
  subject: "plant/7/alarm",
  headers: { kind: "alarm", level: "9" },
  payload: new TextEncoder().encode(
    JSON.stringify({ device: { kind: "pump", temp: 71.5 }, tags: ["hot", "wet"], ok: true }),
  ),
});

describe("conditions", () => {
  const holds = (field: string, op: Condition["op"], value: Condition["value"]): boolean =>
    compileCondition({ field, op, value })(new Subject(message));

  test.each([
    ["subject", "eq", "plant/7/alarm", true],
    ["subject", "ne", "plant/7/alarm", false],
    ["subject", "prefix", "plant/", true],
    ["subject", "contains", "/7/", true],
    ["subject", "regex", "^plant/\\d+/", true],
    ["subject", "regex", "^\\d", false],
    ["header.kind", "in", ["alarm", "event"], true],
    ["header.kind", "in", ["event"], false],
    ["header.Kind", "eq", "alarm", true],
    ["header.none", "exists", true, false],
    ["header.none", "exists", false, true],
    ["header.none", "ne", "x", true],
    ["header.none", "prefix", "", false],
    ["header.level", "eq", 9, true],
    ["header.level", "gt", 8, true],
    ["header.level", "gte", 9, true],
    ["header.level", "lt", 9, false],
    ["header.kind", "lte", "alarm", true],
    ["header.kind", "gt", 1, false],
    ["$.device.kind", "eq", "pump", true],
    ["$.device.temp", "gt", 70, true],
    ["$.device.none.deeper", "exists", false, true],
    ["$.tags[1]", "eq", "wet", true],
    ["$.tags", "contains", "hot", true],
    ["$.ok", "eq", true, true],
    ["$.__proto__", "exists", true, false],
  ] as const)("%s %s %o is %s", (field, op, value, expected) => {
    expect(holds(field, op, value as Condition["value"])).toBe(expected);
  });

  test("a payload that is no JSON has no fields", () => {
    const subject = new Subject(envelopeOf({ payload: new Uint8Array([0xff, 0xfe]) }));
    expect(compileCondition({ field: "$.a", op: "exists", value: true })(subject)).toBe(false);
  });
});

describe("resolvers", () => {
  const alarm = { when: [{ field: "header.kind", op: "eq", value: "alarm" } as const], bindings: ["a"] };
  const plant = { when: [{ field: "subject", op: "prefix", value: "plant/" } as const], bindings: ["b"] };

  test("rules: the first rule that matches wins, all of its conditions must hold, else the default", () => {
    expect(compileResolver({ type: "rules", rules: [alarm, plant], defaultBindings: ["c"] }, [])(message)).toEqual([
      "a",
    ]);
    expect(compileResolver({ type: "rules", rules: [plant, alarm], defaultBindings: ["c"] }, [])(message)).toEqual([
      "b",
    ]);
    const both = {
      when: [...plant.when, { field: "header.kind", op: "eq", value: "event" } as const],
      bindings: ["d"],
    };
    expect(compileResolver({ type: "rules", rules: [both], defaultBindings: ["c"] }, [])(message)).toEqual(["c"]);
    expect(compileResolver({ type: "rules", rules: [], defaultBindings: [] }, [])(message)).toBeUndefined();
  });

  test("header_map chooses by the exact value", () => {
    const map = new Map([["alarm", ["a"]]]);
    expect(compileResolver({ type: "header_map", header: "kind", map, defaultBindings: [] }, [])(message)).toEqual([
      "a",
    ]);
    expect(compileResolver({ type: "header_map", header: "none", map, defaultBindings: ["z"] }, [])(message)).toEqual([
      "z",
    ]);
    expect(
      compileResolver({ type: "header_map", header: "none", map, defaultBindings: [] }, [])(message),
    ).toBeUndefined();
  });

  test("static and all", () => {
    expect(compileResolver({ type: "static", bindings: ["s"] }, ["x", "y"])(message)).toEqual(["s"]);
    expect(compileResolver({ type: "all" }, ["x", "y"])(message)).toEqual(["x", "y"]);
  });
});
