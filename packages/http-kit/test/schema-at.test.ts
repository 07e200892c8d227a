import * as v from "valibot";
import { expect, test } from "vitest";
import { listsForObjects } from "../src/schema-at.ts";

const object = v.strictObject({ id: v.optional(v.string()) });
const schema = v.strictObject({
  one: object,
  many: v.array(object),
  texts: v.optional(v.array(v.string())),
  any: v.unknown(),
});

test("a list is found where an object is wanted, within lists and behind what may be left out", () => {
  const lists = (given: unknown) => [...listsForObjects(schema, given)];
  expect(lists([])).toEqual([[]]);
  expect(lists({ one: [], many: [{}, [], { id: [] }], other: [] })).toEqual([["one"], ["many", 1]]);
  expect(lists({ many: [1, null], texts: [[]], any: [] })).toEqual([]);
});

test("nothing is looked through in which no object is wanted", () => {
  const untouched = new Proxy([], {
    ownKeys: () => expect.fail("was looked through"),
    get: () => expect.fail("was looked through"),
  });
  expect([...listsForObjects(schema, { texts: untouched, any: untouched, other: untouched })]).toEqual([]);
});
