import { describe, expect, test } from "vitest";
import { filterPlugin } from "../src/index.ts";
import { bound, envelopeOf, json, make } from "./support/parts.ts";
import { problemsOf, startRoute } from "./support/route.ts";

const hot = { field: "$.temp", op: "gt", value: 50 };
const alarm = { field: "header.Kind", op: "eq", value: "alarm" };

describe("filter", () => {
  test.each([
    [{ keep: hot }, { temp: 60 }, {}, "pass"],
    [{ keep: hot }, { temp: 40 }, {}, "filter"],
    [{ keep: [hot, alarm] }, { temp: 60 }, { kind: "alarm" }, "pass"],
    [{ keep: [hot, alarm] }, { temp: 60 }, {}, "filter"],
    [{ drop: hot }, { temp: 60 }, {}, "filter"],
    [{ drop: [hot, alarm] }, { temp: 60 }, {}, "pass"],
    [{ drop: [hot, alarm] }, { temp: 60 }, { kind: "alarm" }, "filter"],
    [{ keep: alarm, drop: hot }, { temp: 60 }, { kind: "alarm" }, "filter"],
    [{ keep: alarm, drop: hot }, { temp: 40 }, { kind: "alarm" }, "pass"],
  ])("%j of %j with headers %j: %s", async (options, payload, headers, expected) => {
    await using filter = make(filterPlugin, options);
    const envelope = envelopeOf({ payload: json(payload), headers });
    const result = await filter.process(envelope, bound());
    expect(result.kind).toBe(expected);
    if (result.kind === "pass") expect(result.envelope).toBe(envelope);
  });

  test("the reason names fields and operators, never what they are compared with", async () => {
    const secret = { field: "header.token", op: "eq", value: "s3cr3t" };
    const envelope = envelopeOf({ headers: { token: "other" } });
    await using keeper = make(filterPlugin, { keep: secret });
    expect(await keeper.process(envelope, bound())).toEqual({
      kind: "filter",
      reason: "keep does not hold: header.token eq",
    });
    await using dropper = make(filterPlugin, {
      drop: [
        { ...secret, op: "ne" },
        { field: "subject", op: "exists" },
      ],
    });
    expect(await dropper.process(envelope, bound())).toEqual({
      kind: "filter",
      reason: "drop holds: header.token ne, subject exists",
    });
  });

  test("options that filter nothing, and conditions that are none, are refused", () => {
    expect(problemsOf("filter", {})).toEqual([expect.stringContaining("filters nothing: give keep, drop or both")]);
    expect(problemsOf("filter", { keep: [] })).toEqual([expect.stringContaining("must name at least one")]);
    expect(problemsOf("filter", { keep: { field: "topic", op: "eq", value: "x" } })).toEqual([
      expect.stringContaining("not a field"),
    ]);
  });
});

describe("filter in a route", () => {
  test("on_filtered: drop settles the source as filtered, and only what passes is sent", async () => {
    await using route = await startRoute([{ type: "filter", options: { keep: hot } }]);
    route.hub.publish("in", { id: "cold", payload: '{"temp":20}' });
    route.hub.publish("in", { id: "hot", payload: '{"temp":70}' });
    expect((await route.settled(2)).toSorted()).toEqual(["delivered", "filtered"]);
    expect(
      route.hub
        .channel("out")
        .messages()
        .map(({ id }) => id),
    ).toEqual(["hot"]);
    expect(await route.deadLetters()).toEqual([]);
  });

  test("on_filtered: dlq keeps it, with the processor's name on the entry", async () => {
    await using route = await startRoute([{ type: "filter", options: { drop: hot } }], {
      policy: { on_filtered: "dlq" },
    });
    route.hub.publish("in", { id: "hot", payload: '{"temp":70}' });
    expect(await route.settled(1)).toEqual(["dead_lettered"]);
    expect(await route.deadLetters()).toMatchObject([
      { category: "filtered", errorCode: "MESSAGE_FILTERED", lastError: "processor p0: drop holds: $.temp gt" },
    ]);
  });
});
