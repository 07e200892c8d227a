import { deadLetter } from "@bridge/conformance";
import { systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { headOf, writtenEntry } from "../src/dead-letter-item.ts";

describe("the head of an item that somebody has changed", () => {
  const entry = deadLetter("a");
  const written = writtenEntry(entry, undefined, systemRandom()).item;
  const { payload: _, envelope: __, category_shard: byCategory, route_shard: byRoute, ...item } = written;

  test.each(["{", "null", "[]", "{}", '"text"'])("to %s is what its index knows, and hides no page", (text) => {
    const { id, routeId, category, failedAt } = entry;
    const odd = { ...item, head: { S: text } };
    const known = { id, category, failedAt, reason: expect.stringContaining("not as it was written") as string };
    expect(headOf({ ...odd, ...(byRoute && { route_shard: byRoute }) })).toMatchObject({ ...known, routeId });
    expect(headOf({ ...odd, ...(byCategory && { category_shard: byCategory }) })).toMatchObject({
      ...known,
      routeId: "",
    });
  });

  test("by having none, is what its index knows", () => {
    const { head: ___, ...none } = item;
    expect(headOf({ ...none, ...(byRoute && { route_shard: byRoute }) })).toMatchObject({
      id: "a",
      routeId: entry.routeId,
    });
  });
});
