import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lane } from "../../src/route/lane.ts";
import { type Counters, idleLane } from "./idle-lane.ts";

/** Monotonic milliseconds at which the lane is made. */
const BEGAN = 1_000_000;

/** A lane whose counters a test sets; `after` looks at it when so much time has passed since it was made. */
function stage(changes: Partial<Counters> = {}) {
  const source: Counters = { ...idleLane("binding out"), ...changes };
  const lane = new Lane(source, BEGAN);
  const after = (ms: number, next: Partial<Counters> = {}) => {
    Object.assign(source, next);
    lane.look(BEGAN + ms);
    return lane.facts(BEGAN + ms);
  };
  const failure = (ms: number) => ({
    code: "UNAVAILABLE",
    error: "away",
    at: BEGAN + ms,
    delivered: source.delivered,
  });
  return { lane, source, after, failure };
}

describe("for how long nothing has ended, though there is something to do", () => {
  test("is counted from the last look at which there was nothing", () => {
    const { after } = stage();
    expect(after(1_000)).toMatchObject({ name: "binding out", work: 0, quietMs: 0, undeliveredMs: 0, limited: false });
    expect(after(2_000, { work: 1, limited: true })).toMatchObject({
      work: 1,
      quietMs: 1_000,
      undeliveredMs: 1_000,
      limited: true,
    });
    expect(after(4_500)).toMatchObject({ quietMs: 3_500, undeliveredMs: 3_500 });
    expect(after(5_000, { work: 0 })).toMatchObject({ quietMs: 0, undeliveredMs: 0 });
  });

  test("is counted from the making of the lane when there has always been something", () => {
    expect(stage({ work: 1, ended: 5, delivered: 5 }).after(3_000)).toMatchObject({
      quietMs: 3_000,
      undeliveredMs: 3_000,
    });
  });

  test("is counted from the look before the one that has seen something end", () => {
    const { after } = stage({ work: 3 });
    after(1_000);
    expect(after(2_000, { ended: 1 })).toMatchObject({ quietMs: 1_000, undeliveredMs: 2_000 });
    expect(after(3_000, { ended: 2, delivered: 1 })).toMatchObject({ quietMs: 1_000, undeliveredMs: 1_000 });
    expect(after(4_000)).toMatchObject({ quietMs: 2_000, undeliveredMs: 2_000 });
  });

  test("is not held against a route that stood still with its process: nobody looked for five seconds", () => {
    const { after } = stage({ work: 1 });
    expect(after(4_999)).toMatchObject({ quietMs: 4_999 });
    expect(after(9_999)).toMatchObject({ quietMs: 0, undeliveredMs: 9_999 });
  });
});

describe("how long of the time without a delivery there was something to do", () => {
  test("is counted while there is work, and not while there is none", () => {
    const { after, failure } = stage();
    after(1_000, { work: 1 });
    after(2_000, { work: 0, refused: 1, failure: failure(1_500) });
    expect(after(30_000)).toMatchObject({ undeliveredMs: 2_000, workedMs: 2_000 });
    after(31_000, { work: 1 });
    expect(after(32_000)).toMatchObject({ undeliveredMs: 4_000, workedMs: 4_000 });
  });

  test("counts an attempt of which only its failure is seen", () => {
    const { after, failure } = stage();
    after(1_000);
    expect(after(2_000, { unanswered: 1, failure: failure(1_900) })).toMatchObject({ work: 0, workedMs: 1_000 });
  });

  test("is counted from the look before the one that has seen a delivery", () => {
    const { after } = stage({ work: 1 });
    after(1_000);
    expect(after(2_000, { delivered: 1, ended: 1 })).toMatchObject({ undeliveredMs: 1_000, workedMs: 1_000 });
    expect(after(3_000, { work: 0 })).toMatchObject({ workedMs: 0 });
  });

  test("is forgotten with a failure that is no news any more", () => {
    const { after, failure } = stage({ work: 1 });
    after(1_000, { unanswered: 1, failure: failure(1_000) });
    expect(after(60_999, { work: 0 })).toMatchObject({ workedMs: 1_000 });
    expect(after(61_000)).toMatchObject({ workedMs: 0 });
  });

  test("is not that for which the process stood still", () => {
    const { after } = stage({ work: 1 });
    after(4_999);
    expect(after(9_999)).toMatchObject({ undeliveredMs: 9_999, workedMs: 4_999 });
  });

  test("is never longer than that time, and is all of it while there is always work", () => {
    const looks = fc.array(
      fc.record({ ms: fc.integer({ min: 1, max: 4_999 }), work: fc.nat(1), fails: fc.nat(1), takes: fc.nat(1) }),
    );
    fc.assert(
      fc.property(looks, fc.boolean(), (each, always) => {
        const { after, source, failure } = stage({ work: 1 });
        let at = 0;
        for (const { ms, work, fails, takes } of each) {
          at += ms;
          const delivered = source.delivered + takes;
          const failed =
            fails === 0 ? {} : { unanswered: source.unanswered + 1, failure: { ...failure(at), delivered } };
          const facts = after(at, { work: always ? 1 : work, delivered, ...failed });
          expect(facts.workedMs).toBeLessThanOrEqual(facts.undeliveredMs);
          if (always) expect(facts.workedMs).toBe(facts.undeliveredMs);
        }
      }),
    );
  });
});

test("a lane is lively until ten seconds have passed since something ended", () => {
  const { lane, after } = stage({ work: 1 });
  after(1_000);
  expect(lane.lively(BEGAN + 1_000)).toBe(false);
  after(2_000, { ended: 1 });
  expect(lane.lively(BEGAN + 10_999)).toBe(true);
  expect(lane.lively(BEGAN + 11_000)).toBe(false);
});

describe("the failure that nothing delivered has followed", () => {
  test("is told with its age and with how many attempts failed since the last delivery", () => {
    const { after, failure, source } = stage({ work: 1, refused: 4, unanswered: 2 });
    expect(after(1_000).failure).toBeUndefined();
    after(2_000, { refused: 5, failure: failure(1_500) });
    expect(after(3_000, { unanswered: 4, failure: failure(2_500) }).failure).toEqual({
      code: "UNAVAILABLE",
      error: "away",
      agoMs: 500,
      times: 3,
    });
    expect(after(4_000, { delivered: 1 }).failure).toBeUndefined();
    source.failure = failure(4_500);
    expect(after(5_000, { refused: 6 }).failure).toMatchObject({ agoMs: 500, times: 1 });
  });

  test("counts the time in which its source had it back when it fails again, for as long as it is news", () => {
    const { after, failure } = stage({ work: 1 });
    after(1_000, { refused: 1, failure: failure(1_000) });
    expect(after(2_000, { work: 0 })).toMatchObject({ quietMs: 0, undeliveredMs: 1_000 });
    for (let ms = 3_000; ms < 31_000; ms += 1_000) after(ms);
    expect(after(31_000, { refused: 2, failure: failure(31_000) })).toMatchObject({ undeliveredMs: 31_000 });
    expect(after(90_999)).toMatchObject({ undeliveredMs: 31_000 });
    expect(after(91_000)).toMatchObject({ undeliveredMs: 0 });
  });

  test("is none once it is no news and there is nothing to do, and counts no more with those after that", () => {
    const { after, failure } = stage({ work: 1 });
    after(1_000, { refused: 3, failure: failure(1_000) });
    expect(after(60_999, { work: 0 }).failure).toMatchObject({ times: 3 });
    expect(after(61_000).failure).toBeUndefined();
    expect(after(62_000, { work: 1, refused: 4, failure: failure(61_500) }).failure).toMatchObject({ times: 1 });
    expect(after(63_000, { refused: 5, failure: failure(62_500) }).failure).toMatchObject({ times: 2 });
  });

  test("is counted with those that were refused long ago while there has always been something to do", () => {
    const { after, failure } = stage({ work: 1 });
    after(1_000, { refused: 3, failure: failure(1_000) });
    after(61_000);
    expect(after(62_000, { refused: 4, failure: failure(61_500) }).failure).toMatchObject({ times: 4 });
  });
});

describe("attempts that ended", () => {
  test("are counted over the last ten seconds and over the last minute", () => {
    const { lane, after } = stage({ delivered: 100, refused: 100, unanswered: 100 });
    for (let s = 1; s <= 90; s++)
      after(s * 1_000, { delivered: 100 + s, refused: 100 + 2 * s, unanswered: 100 + 3 * s });
    expect(lane.facts(BEGAN + 90_000).recent).toEqual({ delivered: 10, refused: 20, unanswered: 30 });
    expect(lane.lastMinute(BEGAN + 90_000)).toEqual({ delivered: 60, refused: 120, unanswered: 180 });
  });

  test("are counted from the making of a lane that is younger", () => {
    const { lane, after } = stage({ delivered: 100 });
    after(500, { delivered: 101 });
    expect(after(4_000, { delivered: 107 }).recent).toEqual({ delivered: 7, refused: 0, unanswered: 0 });
    expect(lane.lastMinute(BEGAN + 4_000)).toEqual({ delivered: 7, refused: 0, unanswered: 0 });
  });

  test("are counted as far back however often it is looked", () => {
    const { lane, after } = stage();
    for (let at = 1; at <= 900; at++) after(at * 100, { delivered: at });
    expect(lane.facts(BEGAN + 90_000).recent.delivered).toBe(100);
    expect(lane.lastMinute(BEGAN + 90_000).delivered).toBe(600);
  });

  test("are recent for ten seconds after the last, and as long as two failures are news that nothing delivered has followed", () => {
    const { after, failure } = stage();
    expect(after(5_000, { delivered: 3, refused: 1 }).recent).toMatchObject({ delivered: 3, refused: 1 });
    expect(after(14_999).recent).toMatchObject({ delivered: 3, refused: 1 });
    expect(after(15_000).recent).toEqual({ delivered: 0, refused: 0, unanswered: 0 });
    after(20_000, { refused: 3, failure: failure(20_000) });
    expect(after(40_000, { refused: 4, failure: failure(40_000) }).recent).toMatchObject({ delivered: 0, refused: 2 });
    expect(after(99_999).recent).toMatchObject({ refused: 2 });
    expect(after(100_000).recent).toMatchObject({ refused: 0 });
  });
});
