import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lane } from "../../src/route/lane.ts";
import { judge, type Judgement } from "../../src/view/progress.ts";
import { idleLane } from "./idle-lane.ts";

interface Step {
  readonly ms: number;
  readonly work: number;
  readonly delivered: number;
  readonly refused: number;
  readonly unanswered: number;
  /** Whether what was delivered came before what failed. */
  readonly failedLast: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  ms: fc.integer({ min: 100, max: 4_000 }),
  work: fc.nat(1),
  delivered: fc.constantFrom(0, 0, 0, 1, 5),
  refused: fc.constantFrom(0, 0, 1, 3),
  unanswered: fc.constantFrom(0, 0, 1, 3),
  failedLast: fc.boolean(),
});
const NOTHING: Step = { ms: 500, work: 0, delivered: 0, refused: 0, unanswered: 0, failedLast: false };
const quiet = fc.integer({ min: 100, max: 4_000 }).map((ms): Step => ({ ...NOTHING, ms }));
const pause = (halfSeconds: number): readonly Step[] => Array.from({ length: halfSeconds }, () => NOTHING);
const course = fc
  .array(fc.oneof(fc.array(step, { maxLength: 6 }), fc.array(quiet, { maxLength: 30 })), { maxLength: 6 })
  .map((parts) => parts.flat());
const sendTimeout = fc.constantFrom(500, 1_000, 5_000, 10_000, 30_000);

/** How a route with one binding is told to get on after each step. */
function follow(steps: readonly Step[], sendTimeoutMs: number): readonly Judgement[] {
  const source = idleLane("binding out");
  const lanes = { wayIn: new Lane({ ...source }, 0), out: new Lane(source, 0) };
  let now = 0;
  return steps.map(({ ms, work, delivered, refused, unanswered, failedLast }) => {
    now += ms;
    source.work = work;
    source.ended += delivered + refused + unanswered;
    if (refused + unanswered > 0) {
      const code = refused > 0 ? "REJECTED" : "TIMEOUT";
      source.failure = { code, error: "why", at: now, delivered: source.delivered + (failedLast ? delivered : 0) };
    }
    source.delivered += delivered;
    source.refused += refused;
    source.unanswered += unanswered;
    lanes.out.look(now);
    const lively = lanes.out.lively(now);
    const [wayIn, out] = [lanes.wayIn.facts(now), lanes.out.facts(now)];
    return judge({ sendTimeoutMs, obstacle: undefined, full: undefined, wayIn, waysOut: [out], lively });
  });
}

const BAD = new Set(["stalled", "failing"]);
const isQuiet = ({ work, delivered, refused, unanswered }: Step): boolean =>
  work + delivered + refused + unanswered === 0;

describe("finding 8.3: a route that has nothing to do", () => {
  test("does not become worse, and none of what is told of it grows", () => {
    fc.assert(
      fc.property(course, sendTimeout, (steps, sendTimeoutMs) => {
        const told = follow(steps, sendTimeoutMs);
        for (const [at, now] of told.entries()) {
          const [before, was, is] = [told[at - 1], steps[at - 1], steps[at]];
          if (was === undefined || is === undefined || was.work > 0 || !isQuiet(is) || !BAD.has(now.progress)) continue;
          expect(now).toEqual(before);
        }
      }),
    );
  });

  test("is failing, once it is, until something is delivered or a minute has passed", () => {
    fc.assert(
      fc.property(course, sendTimeout, (steps, sendTimeoutMs) => {
        const told = follow(steps, sendTimeoutMs);
        let agoMs = Infinity;
        let times = 0;
        for (const [at, { ms, delivered, refused, unanswered }] of steps.entries()) {
          agoMs = refused + unanswered > 0 ? 0 : agoMs + ms;
          times = delivered > 0 ? 0 : times + refused + unanswered;
          const lasts = told[at - 1]?.progress === "failing" && times >= 2 && agoMs < 60_000;
          expect(!lasts || BAD.has(told[at]?.progress ?? "")).toBe(true);
        }
      }),
    );
  });

  test.each([1_000, 10_000, 30_000])("is failing for a minute after several refusals (%i)", (sendTimeoutMs) => {
    const told = follow([{ ...NOTHING, refused: 5 }, ...pause(240)], sendTimeoutMs).map(({ progress }) => progress);
    expect(new Set(told.slice(0, 120))).toEqual(new Set(["failing"]));
    expect(new Set(told.slice(120))).toEqual(new Set(["idle"]));
  });

  test("is failing between the attempts of a message that is refused again and again, however long the pauses", () => {
    const tries = [0, 2, 4, 8, 16, 32, 64].flatMap((halves) => [...pause(halves), { ...NOTHING, refused: 1 }]);
    const told = follow(tries, 30_000).map(({ progress }) => progress);
    expect(new Set(told.slice(4))).toEqual(new Set(["failing"]));
  });
});
