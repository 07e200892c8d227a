import type { DlqStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { failedAhead } from "../../src/dlq-job/clock-skew.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";

type Page = NonNullable<DlqStore["page"]>;

const STORES: readonly (readonly [string, Page, RegExp | undefined])[] = [
  ["has none", async () => ({ entries: [], scanned: 0 }), undefined],
  ["refuses to tell", () => Promise.reject(new Error("a value cannot be read")), /could not be looked at in time/],
  [
    "does not tell",
    () => new Promise<never>(() => {}),
    /could not be looked at in time: such ones are not in the plan/,
  ],
];

test.each(STORES)(
  "of a store that %s, what failed by a clock that is ahead is told within 2 s, or that this is not known",
  async (_, page, warns) => {
    const clock = new BoundingClock();
    const beganAt = clock.monotonic();
    let told: string | undefined | null = null;
    const looking = failedAhead({ store: { page }, query: {}, clock, missing: "plan" }, bound());
    void looking.then((warning) => (told = warning));
    await clock.until(() => told !== null);
    expect(clock.monotonic() - beganAt).toBeLessThanOrEqual(2_000);
    if (warns === undefined) expect(told).toBeUndefined();
    else expect(told).toMatch(warns);
  },
);
