import { expect, test } from "vitest";
import { flipBits } from "./support/flips.ts";

test.each(["stop", "kill"] as const)(
  "finding 3.1, finding 3.3: one bit changed after a %s loses and spoils nothing without a word",
  async (ending) => {
    expect(await flipBits(ending, 25)).toBe(25);
  },
  60_000,
);
