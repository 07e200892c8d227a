import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { compileCondition, compileField, type Condition, conditionSchema, Subject } from "../src/conditions.ts";
import type { Envelope } from "../src/index.ts";

const message: Envelope = {
  id: "m1",
  sourceId: "in",
  subject: "plant/7/alarm",
  contentType: "",
  headers: { kind: "alarm", level: "9" },
  payload: new TextEncoder().encode(
    JSON.stringify({ device: { kind: "pump", temp: 71.5 }, tags: ["hot", "wet"], ok: true }),
  ),
  correlationId: "m1",
  receivedAt: 0,
};

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
    const subject = new Subject({ ...message, payload: new Uint8Array([0xff, 0xfe]) });
    expect(compileCondition({ field: "$.a", op: "exists", value: true })(subject)).toBe(false);
  });

  test("a payload of more than 1 MiB is not looked into", () => {
    const field = compileField("$.a");
    const padded = (bytes: number): Subject =>
      new Subject({ ...message, payload: new TextEncoder().encode(`{"a":1}`.padEnd(bytes)) });
    expect(field(padded(1_048_576))).toBe(1);
    expect(field(padded(1_048_577))).toBeUndefined();
  });

  test("a field that the message does not have meets only ne and exists: false", () => {
    const field = fc.constantFrom("header.none", "$.none", "$.tags[9]", "$.device.kind.deeper");
    const conditions = fc.oneof(
      fc.record({ field, op: fc.constantFrom("eq", "ne", "contains"), value: fc.oneof(fc.string(), fc.integer()) }),
      fc.record({ field, op: fc.constantFrom("gt", "gte", "lt", "lte"), value: fc.oneof(fc.string(), fc.integer()) }),
      fc.record({ field, op: fc.constant("prefix"), value: fc.string() }),
      fc.record({ field, op: fc.constant("regex"), value: fc.constantFrom("", ".*", "^$") }),
      fc.record({ field, op: fc.constant("in"), value: fc.array(fc.string(), { minLength: 1 }) }),
      fc.record({ field, op: fc.constant("exists"), value: fc.boolean() }),
    );
    fc.assert(
      fc.property(conditions, (written) => {
        const condition = v.parse(conditionSchema, written);
        const expected = written.op === "ne" || (written.op === "exists" && !written.value);
        expect(compileCondition(condition)(new Subject(message))).toBe(expected);
      }),
    );
  });
});
