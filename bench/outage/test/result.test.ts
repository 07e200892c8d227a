import { describe, expect, it } from "vitest";
import { memoryFrom } from "../src/memory.ts";
import { problemsOf, type Result } from "../src/result.ts";

const MINUTE = 60;

/** One reading a second, given for each minute. */
function readings(...minutes: readonly number[]): readonly number[] {
  return minutes.flatMap((mib) => Array.from({ length: MINUTE }, () => mib));
}

const WELL: Result = {
  flags: { mode: "direct_hold", minutes: 4, rate: 2_000, size: 256 },
  began: "2026-01-01T00:00:00.000Z",
  memory: memoryFrom(readings(80, 100, 102, 101, 100)),
  readings: [],
  afterwards: 100,
  missing: 400_000,
  inOutbox: 0,
  inFlight: 100,
  attempts: 1_000,
  recoverySeconds: 60,
  balance: { sent: 480_000, lost: 0, duplicated: 0, refused: 0 },
  unaccounted: [0, 0],
  lastEnding: "0",
  folder: "/nowhere",
};

describe("memory", () => {
  it("is the trend after the first minute", () => {
    const rising = Array.from({ length: 3 * MINUTE + 1 }, (_, second) =>
      second < MINUTE ? 10 : 100 + (second - MINUTE) / 12,
    );
    expect(memoryFrom(rising)).toEqual({
      from: expect.closeTo(100) as number,
      to: expect.closeTo(110) as number,
      drift: expect.closeTo(0.1) as number,
      least: 100,
      most: 110,
    });
  });

  it("is flat when it goes up and down like a saw", () => {
    const saw = Array.from({ length: 10 * MINUTE }, (_, second) => 100 + (second % 70));
    expect(Math.abs(memoryFrom(saw).drift)).toBeLessThan(0.05);
  });
});

describe("an outage", () => {
  it("is without problems when memory is flat and all arrives once", () => {
    expect(problemsOf(WELL)).toEqual([]);
  });

  it("does not mind memory that shrinks", () => {
    expect(problemsOf({ ...WELL, memory: memoryFrom(readings(80, 100, 90, 60)) })).toEqual([]);
  });

  it.each([
    ["memory grows by more than 5 %", { memory: memoryFrom(readings(80, 100, 105, 110)) }],
    ["a message does not arrive", { balance: { ...WELL.balance, lost: 1 } }],
    ["more arrives twice than was in flight", { balance: { ...WELL.balance, duplicated: 101 } }],
    ["the accounts do not balance", { unaccounted: [0, -1] }],
    [
      "the outbox has not taken everything",
      { flags: { ...WELL.flags, mode: "shared_outbox" as const }, inOutbox: 399_999 },
    ],
    ["the bridge does not end as it should", { lastEnding: "1" }],
  ] satisfies readonly (readonly [string, Partial<Result>])[])("has a problem when %s", (_, change) => {
    expect(problemsOf({ ...WELL, ...change })).toHaveLength(1);
  });
});
