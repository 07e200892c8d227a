import { RESERVED } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transform as transformPlugin } from "../src/index.ts";
import { bound, envelopeOf, json, make, text } from "./support/parts.ts";
import { problemsOf, startRoute } from "./support/route.ts";

const reading = envelopeOf({
  headers: { site: "north", "x-old": "1", [RESERVED.orderingKey]: "k" },
  contentType: "text/plain",
  payload: json({ f: 212, readings: [{ v: 1 }, { v: 3 }, { v: 5 }] }),
});

async function transformed(options: unknown, envelope = reading) {
  await using transform = make(transformPlugin, options);
  const result = await transform.process(envelope, bound());
  if (result.kind !== "pass") throw new Error("a transformation filters nothing");
  return result.envelope;
}

async function refusalOf(options: unknown, envelope = reading): Promise<{ code: string; message: string }> {
  const thrown: unknown = await transformed(options, envelope).then(
    () => undefined,
    (error: unknown) => error,
  );
  const { code, message } = thrown as { code: string; message: string };
  return { code, message };
}

/** What a failure says; nothing when there is none. */
async function messageOf(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("transform", () => {
  test("makes a new payload, which is JSON, and leaves the rest as it is", async () => {
    const made = await transformed({
      payload: '{ "celsius": (payload.f - 32) * 5 / 9, "site": headers.site, "high": payload.readings[v > 2].v }',
    });
    expect(text(made.payload)).toBe('{"celsius":100,"site":"north","high":[3,5]}');
    expect(made).toEqual({ ...reading, payload: made.payload, contentType: "application/json" });
  });

  test("sets subject, content type and headers; an expression that gives nothing takes its header away", async () => {
    const made = await transformed({
      subject: '"sites/" & headers.site',
      content_type: '"text/csv"',
      headers: {
        "X-Max": "$max(payload.readings.v)",
        "x-old": "null",
        "x-none": "payload.nothing",
        hot: "payload.f > 90",
      },
    });
    expect(made).toEqual({
      ...reading,
      subject: "sites/north",
      contentType: "text/csv",
      headers: { site: "north", "x-max": "5", hot: "true", [RESERVED.orderingKey]: "k" },
    });
    expect(made.payload).toEqual(reading.payload);
  });

  test("every expression sees the message as it came in", async () => {
    const made = await transformed({
      subject: '"new"',
      headers: { site: '"new"', from: 'subject & " " & headers.site' },
    });
    expect(made.headers["from"]).toBe("plant/7 north");
    const facts = "[id, source_id, correlation_id, received_at, subject, content_type, headers.`x-old`]";
    expect(text((await transformed({ payload: facts })).payload)).toBe(
      '["m1","in","c1",1000,"plant/7","text/plain","1"]',
    );
  });

  test("a payload that is not JSON fails the message only when an expression looks at it", async () => {
    const binary = envelopeOf({ payload: new Uint8Array([0xff, 0x00]) });
    expect((await transformed({ subject: '"a"' }, binary)).payload).toEqual(binary.payload);
    expect(await refusalOf({ subject: "payload.site" }, binary)).toEqual({
      code: "INVALID_PAYLOAD",
      message: "subject: the payload is not JSON in UTF-8",
    });
  });

  test.each([
    ["payload", "payload.nothing", "payload: gives nothing for this message"],
    ["payload", "$sum", "payload: gives a function, which JSON cannot hold"],
    ["payload", '{"f": function($x){ $x }}', "payload: gives a function, which JSON cannot hold"],
    ["subject", "payload.readings", "subject: gives no text, number, true or false for this message"],
    ["content_type", "payload.nothing", "content_type: gives no text, number, true or false for this message"],
  ])("%s: %s has no value that can stand there", async (option, expression, message) => {
    expect(await refusalOf({ [option]: expression })).toEqual({ code: "INVALID_PAYLOAD", message });
  });

  test("an error tells the place in the expression and the language's code, never a value of the message", async () => {
    const failing = [
      "payload.s + 1",
      "$number(payload.s)",
      "$error(payload.s)",
      "$assert(false, payload.s)",
      "$toMillis(payload.s, payload.s)",
      "$formatNumber(1, payload.s)",
      "$lookup(payload, payload.s)()",
      "payload.s()",
      "$eval(payload.s)",
      "$fromMillis(0, payload.s)",
      "[1..payload.s]",
      "$pad(payload.s, payload.s)",
    ];
    await using transforms = new AsyncDisposableStack();
    const made = failing.map((payload) => transforms.use(make(transformPlugin, { payload })));
    const canary = fc.stringMatching(/^[A-Za-z0-9]{8,40}$/).map((secret) => `zq${secret}`);
    await fc.assert(
      fc.asyncProperty(canary, async (secret) => {
        const envelope = envelopeOf({ payload: json({ s: secret }) });
        for (const transform of made) {
          const said = await messageOf(async () => transform.process(envelope, bound()));
          expect(said).not.toContain(secret);
        }
      }),
      { numRuns: 20 },
    );
    expect(await refusalOf({ payload: 'payload.f + "x"' })).toEqual({
      code: "INVALID_PAYLOAD",
      message: 'payload: cannot be evaluated at character 11 ("+"): JSONata T2002',
    });
  });

  test("reserved headers can never be set, in no letter case and no Unicode spelling", () => {
    const letters = [..."x-bridge."].map((letter) => fc.constantFrom(letter, letter.toUpperCase()));
    fc.assert(
      fc.property(fc.tuple(...letters), fc.stringMatching(/^[a-z-]{0,20}$/), (prefix, rest) => {
        expect(problemsOf("transform", { headers: { [prefix.join("") + rest]: '"x"' } })).toEqual([
          expect.stringContaining("headers whose names begin with x-bridge. belong to the bridge"),
        ]);
      }),
    );
    expect(problemsOf("transform", { headers: { "ｘ-bridge.dedup-id": '"x"' } })).toHaveLength(1);
  });

  test.each([
    [{}, /^changes nothing: give payload, subject, content_type or headers/],
    [{ payload: "{" }, /^payload: not a JSONata expression: .* at character \d+/],
    [{ payload: "(".repeat(9_000) }, /^payload: not a JSONata expression/],
    [{ payload: `"${"x".repeat(10_000)}"` }, /^payload: an expression has at most 10000 characters/],
    [{ payload: "" }, /^payload: must not be empty/],
    [{ headers: { a: "(" } }, /^headers\.a: not a JSONata expression/],
    [{ headers: { "a b": '"x"' } }, /^headers\["a b"\]: not a header name/],
    [
      { headers: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`h${at}`, "1"])) },
      /^headers: at most 64 headers/,
    ],
    [{ subject: '"a"', timeout: "1ms" }, /^timeout: must be from 10ms to 60s/],
    [{ subject: '"a"', timeout: "2m" }, /^timeout: must be from 10ms to 60s/],
    [{ subject: '"a"', max_bytes: 0 }, /^max_bytes: expected an integer/],
    [{ subject: '"a"', retries: 1 }, /^retries: unknown key/],
  ])("options that it could not carry out are refused where they stand (%#)", (options, message) => {
    expect(problemsOf("transform", options)).toEqual([expect.stringMatching(message)]);
  });
});

describe("transform in a route", () => {
  test("what was made is sent, to the binding that it chose", async () => {
    await using route = await startRoute(
      [
        {
          type: "transform",
          options: { payload: '{"v": payload.v * 2}', subject: '"s"', headers: { kind: "payload.kind" } },
        },
      ],
      {
        bindings: ["a", "b"],
        route: {
          resolver: {
            type: "rules",
            rules: [{ when: { field: "header.kind", op: "eq", value: "beta" }, binding: "b" }],
            default_binding: "a",
          },
        },
      },
    );
    for (let v = 0; v < 50; v++)
      route.hub.publish("in", { payload: JSON.stringify({ v, kind: v % 2 ? "beta" : "x" }) });
    expect(await route.settled(50)).toEqual(Array.from({ length: 50 }, () => "delivered"));
    const sent = (channel: string): readonly string[] =>
      route.hub
        .channel(channel)
        .messages()
        .map(({ payload }) => text(payload));
    expect(sent("a").length + sent("b").length).toBe(50);
    expect(sent("b")).toContain('{"v":98}');
    expect(route.hub.channel("b").messages()[0]).toMatchObject({ subject: "s", contentType: "application/json" });
  });

  test("a message that it fails is dead-lettered as it was received, with the processor's name", async () => {
    await using route = await startRoute([{ type: "transform", options: { payload: "payload.a.b + 1" } }]);
    route.hub.publish("in", { id: "m1", payload: '{"a":{"b":"no number"}}' });
    expect(await route.settled(1)).toEqual(["dead_lettered"]);
    const [entry] = await route.deadLetters();
    expect(entry).toMatchObject({
      category: "rejected",
      errorCode: "INVALID_PAYLOAD",
      lastError: 'processor p0: payload: cannot be evaluated at character 13 ("+"): JSONata T2001',
      attempts: 1,
    });
    expect(text(entry?.envelope.payload)).toBe('{"a":{"b":"no number"}}');
  });

  test("one that hangs fails its message by policy, and the others go through", async () => {
    await using route = await startRoute(
      [{ type: "transform", options: { payload: '{"m": $match(payload.t, /^(a+)+$/)[0].match}', timeout: "100ms" } }],
      { policy: { max_replay_attempts: 2 } },
    );
    route.hub.publish("in", { id: "hostile", payload: JSON.stringify({ t: `${"a".repeat(50)}!` }) });
    for (let at = 0; at < 5; at++) route.hub.publish("in", { id: `m${at}`, payload: '{"t":"aaa"}' });
    expect((await route.settled(6)).toSorted()).toEqual([
      "dead_lettered",
      ...Array.from({ length: 5 }, () => "delivered"),
    ]);
    expect(await route.deadLetters()).toMatchObject([
      {
        errorCode: "TIMEOUT",
        lastError: "processor p0: was not done with the message within 100 ms",
        attempts: 2,
        envelope: { id: "hostile" },
      },
    ]);
  });
});
