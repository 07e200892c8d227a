import { describe, expect, it } from "vitest";
import { Doubt } from "../src/auditor/doubt.ts";

describe("which confirmations are in doubt when a connection ends", () => {
  let now = 0;
  const at = (ms: number): void => void (now = ms);
  const doubt = (): Doubt => new Doubt(() => now);

  it("those of the last second", () => {
    at(10_000);
    expect(doubt().since()).toBe(9_000);
  });

  it("those since a hindrance began that has not ended", () => {
    const hindered = doubt();
    at(10_000);
    hindered.begins("paused");
    at(15_000);
    expect(hindered.since()).toBe(9_000);
  });

  it("those since a hindrance began that has ended just now, and no more a second later", () => {
    const hindered = doubt();
    at(10_000);
    hindered.begins("paused");
    at(15_000);
    hindered.ends("paused");
    at(15_900);
    expect(hindered.since()).toBe(9_000);
    at(16_100);
    expect(hindered.since()).toBe(15_100);
  });

  it("one hindrance after another counts as one", () => {
    const hindered = doubt();
    at(10_000);
    hindered.begins("paused");
    at(12_000);
    hindered.ends("paused");
    hindered.begins("outbox_full");
    at(14_000);
    hindered.ends("outbox_full");
    expect(hindered.since()).toBe(9_000);
  });
});
