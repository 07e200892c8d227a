import { expect, test } from "vitest";
import { flipBits } from "../../test/outbox/support/flips.ts";

test.each(["stop", "kill"] as const)(
  "finding 3.1, finding 3.3: 500 times one bit changed after a %s loses and spoils nothing without a word",
  async (ending) => {
    expect(await flipBits(ending, 500)).toBe(500);
  },
);
