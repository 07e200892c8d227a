import { describe, expect, it } from "vitest";
import type { RouteJudgement } from "../src/auditor/judge.ts";
import { type Result, verdictOn } from "../src/report/result.ts";

const ROUTE: RouteJudgement = {
  route: "mqtt-mqtt",
  offered: 10,
  accepted: 10,
  atTarget: 9,
  inOutbox: 0,
  inDlq: 1,
  inBoth: 0,
  lost: 0,
  atSource: 0,
  withheld: 0,
  repeats: 2,
  bound: 3,
  unexplained: 0,
  overtaken: 0,
};

const OWN_END = { atMs: 5_000, ending: 1, diskWasFull: true, lastWords: "the disk is full" };

function resultWith(change: Partial<Result>, route: Partial<RouteJudgement> = {}): Result {
  const totals = { offered: 10, accepted: 10, unsettled: 0, arrived: 9, repeats: 2, handedAgain: 0, open: 0 };
  return {
    flags: {
      seed: "7",
      rate: 200,
      mode: "direct_hold",
      routes: ["mqtt-mqtt"],
      stores: "file",
      troubles: [],
      kills: 5,
      leastKills: 5,
    },
    began: "2026-01-01T00:00:00.000Z",
    seconds: 60,
    kills: 5,
    stops: 1,
    ownEnds: [],
    troubles: {},
    impossible: [],
    standing: {
      ...totals,
      interruptions: { connections: 0, unconfirmed: 0, unread: 0, largest: 0 },
      answers: { outcomes: { delivered: 5 }, unconfirmed: 3, refused: {} },
    },
    vitals: { readings: 10, unaccounted: [], dlqWriteFailures: 0 },
    rest: "reached",
    judgement: { routes: [{ ...ROUTE, ...route }], findings: [], strangers: [], spoiled: [] },
    entriesRead: 1,
    lastEnding: "0",
    lastTroubles: [],
    folder: "/nowhere",
    ...change,
  };
}

describe("the verdict", () => {
  it("is that nothing is lost when everything is as it should be", () => {
    expect(verdictOn(resultWith({}))).toEqual({ kind: "proved", problems: [] });
  });

  it("does not mind a bridge that cannot start on a full disk", () => {
    expect(verdictOn(resultWith({ ownEnds: [OWN_END] }))).toEqual({ kind: "proved", problems: [] });
  });

  it("is that nothing is lost when there was no time for more than the least number of kills", () => {
    const { flags } = resultWith({});
    expect(verdictOn(resultWith({ kills: 3, flags: { ...flags, leastKills: 3 } }))).toMatchObject({ kind: "proved" });
  });

  it("is against the bridge when a message is lost, however few the kills", () => {
    expect(verdictOn(resultWith({ kills: 1 }, { lost: 1 }))).toMatchObject({ kind: "disproved" });
  });

  it.each([
    ["a message is lost", resultWith({}, { lost: 1 })],
    ["a repeat is unexplained", resultWith({}, { unexplained: 1 })],
    [
      "the bridge cannot account for a message",
      resultWith({ vitals: { readings: 9, unaccounted: [-1], dlqWriteFailures: 0 } }),
    ],
    ["something is stuck", resultWith({ rest: "stuck" }, { atSource: 1 })],
    ["the bridge does not answer", resultWith({ rest: "stuck", judgement: undefined })],
    ["the bridge ends by itself", resultWith({ ownEnds: [{ ...OWN_END, diskWasFull: false }] })],
    ["the bridge does not end cleanly", resultWith({ lastEnding: "1" })],
  ])("is against the bridge when %s", (_, result) => {
    expect(verdictOn(result)).toMatchObject({ kind: "disproved", problems: [expect.any(String)] });
  });

  it("is against the bridge when a caller is refused, or told of a message that was dropped", () => {
    const { standing } = resultWith({});
    const answers = { outcomes: { dropped: 1 }, unconfirmed: 0, refused: { "400": 2 } };
    expect(verdictOn(resultWith({ standing: { ...standing, answers } })).problems).toHaveLength(2);
  });

  it.each([
    ["there was no time for the least number of kills", resultWith({ kills: 4 })],
    ["the bridge was not up in time", resultWith({ rest: "late", judgement: undefined })],
    ["the time was up while messages still moved", resultWith({ rest: "late" }, { atSource: 3, withheld: 2, lost: 1 })],
    ["the broker has lost a message by itself", resultWith({}, { withheld: 1 })],
    ["nothing came through", resultWith({}, { atTarget: 0 })],
  ])("is that the run proves nothing when %s", (_, result) => {
    expect(verdictOn(result)).toMatchObject({ kind: "void", problems: [expect.any(String)] });
  });
});
