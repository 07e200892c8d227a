import { describe, expect, test } from "vitest";
import { LeaseWatch } from "../../src/lease/lease-watch.ts";

const TTL_MS = 10_000;

function seen(holder: string): LeaseWatch {
  const watch = new LeaseWatch("me");
  watch.waitFor({ holder, token: 1, beat: 1, ttlMs: TTL_MS }, 1_000);
  return watch;
}

describe("whether another holds a lease", () => {
  test("nobody does of whom nothing was seen, as there is no record or none was read", () => {
    const watch = new LeaseWatch("me");
    expect(watch.heldElsewhere(0)).toBe(false);
    watch.waitFor(undefined, 0);
    expect(watch.heldElsewhere(0)).toBe(false);
  });

  test.each([
    ["another", true],
    ["me", false],
    ["", false],
  ])("held by %j", (holder, expected) => {
    expect(seen(holder).heldElsewhere(1_000)).toBe(expected);
  });

  test("until its ttl is over, counted from when its record was first seen", () => {
    const watch = seen("another");
    expect(watch.heldElsewhere(1_000 + TTL_MS - 1)).toBe(true);
    expect(watch.heldElsewhere(1_000 + TTL_MS)).toBe(false);
  });
});
