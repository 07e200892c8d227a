import { describe, expect, test } from "vitest";
import { filterPlugin } from "../src/filter-plugin.ts";
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

describe("finding 1.5: a filter does not drop what it could not read", () => {
  const old = { field: "header.age", op: "gt", value: 9 };
  const garbage = new TextEncoder().encode("not json");
  const UNREAD = "cannot tell whether $.temp gt holds: the payload is not JSON in UTF-8";
  test.each([
    [{ keep: hot }, "fail"],
    [{ keep: hot, on_unreadable: "keep" }, "pass"],
    [{ keep: hot, on_unreadable: "drop" }, "filter"],
    [{ drop: hot }, "pass"],
    [{ drop: { ...hot, op: "ne" } }, "pass"],
    [{ drop: { field: "$.temp", op: "exists", value: false } }, "pass"],
    [{ drop: hot, on_unreadable: "fail" }, "fail"],
    [{ drop: hot, on_unreadable: "drop" }, "filter"],
    [{ keep: { ...hot, op: "lt" }, on_unreadable: "fail" }, "fail", UNREAD.replace("gt", "lt")],
    [{ keep: [hot, alarm] }, "filter", "keep does not hold: header.kind eq"],
    [{ keep: [hot, old] }, "fail"],
    [{ keep: old, on_unreadable: "fail" }, "pass"],
    [{ keep: hot, drop: old }, "filter", "drop holds: header.age gt"],
    [{ drop: [hot, alarm], on_unreadable: "fail" }, "pass"],
  ])("%j: %s", async (options, expected, reason = UNREAD) => {
    await using filter = make(filterPlugin, options);
    const judge = async (): Promise<unknown> =>
      filter.process(envelopeOf({ payload: garbage, headers: { age: "10" } }), bound());
    if (expected === "fail") {
      await expect(judge()).rejects.toMatchObject({ code: "INVALID_PAYLOAD", message: reason });
    } else expect(await judge()).toMatchObject({ kind: expected, ...(expected === "filter" ? { reason } : {}) });
  });

  test("nor what is too large to look into, or too long for a regular expression", async () => {
    await using filter = make(filterPlugin, { keep: hot });
    const large = envelopeOf({ payload: json({ temp: 60, more: "x".repeat(1_048_576) }) });
    await expect(async () => filter.process(large, bound())).rejects.toMatchObject({
      message: "cannot tell whether $.temp gt holds: the payload has more than 1048576 bytes",
    });
    await using pattern = make(filterPlugin, { keep: { field: "$.t", op: "regex", value: "a[ab]{1000}[ab]{1000}c" } });
    const long = envelopeOf({ payload: json({ t: `c${letters(100_000)}` }) });
    await expect(async () => pattern.process(long, bound())).rejects.toMatchObject({
      message: "cannot tell whether $.t regex holds: the text is too long for this regular expression",
    });
  });

  test("JSON that has no such field is read", async () => {
    await using filter = make(filterPlugin, { keep: hot });
    expect(await filter.process(envelopeOf({ payload: json("text") }), bound())).toMatchObject({ kind: "filter" });
  });
});

/** Letters a and b without an order that a pattern could follow; the same each time. */
function letters(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state > 1_073_741_824 ? "a" : "b";
  }).join("");
}

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

  test("finding 1.5: what it could not read is dead-lettered, with its bytes", async () => {
    await using route = await startRoute([{ type: "filter", options: { keep: hot } }]);
    route.hub.publish("in", { id: "odd", payload: "not json" });
    expect(await route.settled(1)).toEqual(["dead_lettered"]);
    expect(await route.deadLetters()).toMatchObject([
      {
        category: "rejected",
        errorCode: "INVALID_PAYLOAD",
        lastError: "processor p0: cannot tell whether $.temp gt holds: the payload is not JSON in UTF-8",
      },
    ]);
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
