import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failureShare, judge, type LaneFacts, PROGRESS, type ProgressFacts } from "../../src/view/progress.ts";

const NONE = { delivered: 0, refused: 0, unanswered: 0 };
const lane = (changes: Partial<LaneFacts> = {}): LaneFacts => ({
  name: "binding out",
  work: 0,
  quietMs: 0,
  undeliveredMs: 0,
  workedMs: 0,
  failure: undefined,
  recent: NONE,
  limited: false,
  ...changes,
});
const facts = (changes: Partial<ProgressFacts> = {}): ProgressFacts => ({
  sendTimeoutMs: 1_000,
  obstacle: undefined,
  full: undefined,
  wayIn: lane({ name: "the route" }),
  waysOut: [lane()],
  lively: false,
  ...changes,
});
const out = (changes: Partial<LaneFacts>): ProgressFacts => facts({ waysOut: [lane(changes)] });
const unanswered = { undeliveredMs: 9_000, workedMs: 2_000 };
const failed = (code: string, agoMs = 10, times = 2) => ({ code, error: "why", agoMs, times });

const anyAttempts = fc.record({ delivered: fc.nat(50), refused: fc.nat(50), unanswered: fc.nat(50) });
const anyFailure = fc.record({
  code: fc.constantFrom("TIMEOUT", "UNAVAILABLE", "REJECTED"),
  error: fc.string(),
  agoMs: fc.nat(200_000),
  times: fc.integer({ min: 1, max: 5 }),
});
const anyLane: fc.Arbitrary<LaneFacts> = fc.record({
  name: fc.constantFrom("binding a", "binding b"),
  work: fc.nat(3),
  quietMs: fc.nat(10_000),
  undeliveredMs: fc.nat(200_000),
  workedMs: fc.nat(200_000),
  failure: fc.option(anyFailure, { nil: undefined }),
  recent: anyAttempts,
  limited: fc.boolean(),
});
const anyFacts: fc.Arbitrary<ProgressFacts> = fc.record({
  sendTimeoutMs: fc.integer({ min: 1, max: 5_000 }),
  obstacle: fc.option(fc.constant("a pause"), { nil: undefined }),
  full: fc.option(fc.constant("full"), { nil: undefined }),
  wayIn: anyLane,
  waysOut: fc.array(anyLane, { maxLength: 3 }),
  lively: fc.boolean(),
});
const lanesOf = ({ wayIn, waysOut }: ProgressFacts): readonly LaneFacts[] => [wayIn, ...waysOut];

describe("finding 8.3: how a route gets on", () => {
  test.each<[string, ProgressFacts, string]>([
    ["nothing to do", facts(), "idle"],
    ["something ended just now", facts({ lively: true }), "moving"],
    ["work that has just begun", out({ work: 1, quietMs: 1_999 }), "moving"],
    ["work of which nothing comes", out({ work: 1, quietMs: 2_000 }), "stalled"],
    ["a silent target", out({ work: 1, quietMs: 2_000, undeliveredMs: 2_000, failure: failed("TIMEOUT") }), "stalled"],
    ["a silent target whose source takes back", out({ ...unanswered, failure: failed("TIMEOUT") }), "stalled"],
    ["silence that has lasted", out({ ...unanswered, failure: failed("TIMEOUT", 10, 1) }), "stalled"],
    ["silence of long ago", out({ ...unanswered, failure: failed("TIMEOUT", 60_000) }), "idle"],
    [
      "silence once, and then nothing to do",
      out({ ...unanswered, workedMs: 1_999, failure: failed("TIMEOUT", 10, 1) }),
      "idle",
    ],
    [
      "silence after a refusal, and in between nothing to do",
      out({ ...unanswered, workedMs: 1_999, failure: failed("TIMEOUT") }),
      "failing",
    ],
    ["a target that refuses", out({ work: 1, recent: { ...NONE, refused: 2 } }), "failing"],
    ["a message that is refused", out({ work: 1, recent: { ...NONE, refused: 1 } }), "moving"],
    ["one that was refused a while ago", out({ undeliveredMs: 9_000, failure: failed("REJECTED", 10, 1) }), "idle"],
    ["several that were refused a while ago", out({ undeliveredMs: 9_000, failure: failed("REJECTED") }), "failing"],
    [
      "a target that has refused for long",
      out({ work: 1, quietMs: 9_000, failure: failed("REJECTED", 9e6) }),
      "failing",
    ],
    ["refusals beside as many deliveries", out({ work: 1, recent: { ...NONE, refused: 5, delivered: 5 } }), "moving"],
    ["a rate limit", out({ work: 1, quietMs: 9_000, limited: true }), "waiting"],
    ["a pause before a standstill", { ...out({ work: 1, quietMs: 9_000 }), obstacle: "a pause" }, "waiting"],
    ["a standstill before a full outbox", { ...out({ work: 1, quietMs: 9_000 }), full: "full" }, "stalled"],
    ["a full outbox", facts({ full: "full", wayIn: lane({ work: 1, quietMs: 9_000 }) }), "waiting"],
    ["a source that does not hear", facts({ wayIn: lane({ work: 1, quietMs: 9_000 }) }), "stalled"],
  ])("%s", (_, given, progress) => {
    expect(judge(given)).toMatchObject({ progress });
  });

  test("says a reason exactly when it is neither moving nor idle", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { progress, reason } = judge(given);
        expect(PROGRESS).toContain(progress);
        expect(reason !== undefined).toBe(progress !== "moving" && progress !== "idle");
      }),
    );
  });

  test("is never stalled or failing without work and without news of a failure", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const quiet = (one: LaneFacts): LaneFacts => ({ ...one, work: 0, failure: undefined, recent: NONE });
        const { progress } = judge({ ...given, wayIn: quiet(given.wayIn), waysOut: given.waysOut.map(quiet) });
        expect(["idle", "moving", "waiting"]).toContain(progress);
      }),
    );
  });

  test("is waiting while something stands in the way, whatever else is so", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const judgement = judge({ ...given, obstacle: "a pause" });
        expect(judgement.progress).toBe("waiting");
        expect(judgement.reason).toMatch(/^a pause\b/);
      }),
    );
  });

  test("finding 8.2: says that the outbox is full, whatever else is so, and once", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { reason } = judge({ ...given, full: "no room" });
        expect(reason?.split("no room")).toHaveLength(2);
      }),
    );
  });

  test("is neither moving nor idle when work stands for twice the send_timeout", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const stands = lanesOf(given).some(({ work, quietMs }) => work > 0 && quietMs >= 2 * given.sendTimeoutMs);
        fc.pre(stands);
        expect(["waiting", "stalled", "failing"]).toContain(judge(given).progress);
      }),
    );
  });

  test("what failed is stalled only when there was work for twice the send_timeout", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        fc.pre(judge(given).progress === "stalled");
        const boundMs = 2 * given.sendTimeoutMs;
        const worked = ({ work, quietMs, workedMs }: LaneFacts) =>
          workedMs >= boundMs || (work > 0 && quietMs >= boundMs);
        expect(lanesOf(given).some(worked)).toBe(true);
      }),
    );
  });

  test("is failing only when something was refused, or several attempts have failed", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        fc.pre(judge(given).progress === "failing");
        const refused = ({ recent, failure }: LaneFacts) =>
          recent.refused > 0 || (failure !== undefined && (failure.code !== "TIMEOUT" || failure.times > 1));
        expect(lanesOf(given).some(refused)).toBe(true);
      }),
    );
  });

  test("one refusal of which nobody waits for the outcome is no failing, whatever else is so", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const once = (one: LaneFacts): LaneFacts => ({
          ...one,
          work: 0,
          recent: { ...one.recent, refused: 1 },
          failure: one.failure && { ...one.failure, times: 1 },
        });
        const { progress } = judge({ ...given, wayIn: once(given.wayIn), waysOut: given.waysOut.map(once) });
        expect(progress).not.toBe("failing");
      }),
    );
  });

  test("the share of failures is between 0 and 1, and unknown without attempts", () => {
    expect(failureShare(NONE)).toBeUndefined();
    fc.assert(
      fc.property(anyAttempts, (attempts) => {
        const share = failureShare(attempts) ?? 0;
        expect(share >= 0 && share <= 1).toBe(true);
      }),
    );
    expect(failureShare({ delivered: 1, refused: 2, unanswered: 1 })).toBe(0.75);
  });
});
