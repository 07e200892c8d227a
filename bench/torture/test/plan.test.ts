import { describe, expect, it } from "vitest";
import { Dice } from "../src/plan/dice.ts";
import { livesOf } from "../src/plan/lives.ts";
import { LANE_NAMES, LANES, troublesOf } from "../src/plan/troubles.ts";

const SOME = 300;

describe("the plan", () => {
  it("is the same for the same seed, however often other lanes are asked", () => {
    for (const lane of LANE_NAMES) {
      const [first, second] = [new Dice("seven"), new Dice("seven")];
      second.next();
      expect(troublesOf(lane, first).take(SOME).toArray()).toEqual(troublesOf(lane, second).take(SOME).toArray());
    }
    expect(livesOf(new Dice("seven")).take(SOME).toArray()).toEqual(livesOf(new Dice("seven")).take(SOME).toArray());
  });

  it("is another one for another seed", () => {
    expect(livesOf(new Dice("seven")).take(SOME).toArray()).not.toEqual(
      livesOf(new Dice("eight")).take(SOME).toArray(),
    );
  });

  it.each(LANE_NAMES)("brings every trouble of %s, for as long as the table says", (lane) => {
    const kinds: Readonly<Record<string, readonly [number, number]>> = LANES[lane].kinds;
    const troubles = troublesOf(lane, new Dice("seven")).take(SOME).toArray();
    expect(new Set(troubles.map(({ kind }) => kind))).toEqual(new Set(Object.keys(kinds)));
    for (const { kind, forMs, afterMs } of troubles) {
      const [min, max] = kinds[kind]!;
      expect(forMs).toBeGreaterThanOrEqual(min);
      expect(forMs).toBeLessThanOrEqual(max);
      expect(afterMs).toBeLessThanOrEqual(4 * LANES[lane].everyMs);
    }
  });

  it("kills some processes before they are up, some while they are stopped, and some while they end", () => {
    const lives = livesOf(new Dice("seven")).take(SOME).toArray();
    expect(lives.some(({ early }) => early)).toBe(true);
    expect(lives.some(({ pauseMs, resumes }) => pauseMs > 0 && !resumes)).toBe(true);
    expect(lives.some(({ askedMs }) => askedMs > 0)).toBe(true);
  });
});
