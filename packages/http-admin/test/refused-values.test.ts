import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_KEY } from "./admin.ts";
import { partsOf, type Schema } from "./described.ts";
import { type Call, type EveryCall, isOverlay, startWithEveryCall } from "./every-call.ts";

/** What stands where it cannot: to be seen again by whoever sent it, if at all, and by nobody else. */
const MARK = "mark-0123456789";
const NUMBER = 98_765_431;
/** Texts without a format or a list of words that can be no secret, durations among them. */
const PLAIN = new Set(
  "by confirm_within duration filter.fingerprint fingerprint guard.level_for ramp_pause topics ttl undo_within".split(
    " ",
  ),
);
const CANARY = "canary-0123456789";
const CANARIES = [CANARY, Buffer.from(CANARY).toString("base64")];
const REMEDY = /expected|has more than|must be|write|give|has control characters|a duration is/;

function isShown(name: string, { enum: words, format }: Schema): boolean {
  return words !== undefined || format === "date-time" || PLAIN.has(name);
}

/** Texts that cannot be there, each with what the answer says that it got; `""`: nothing. */
function* badTexts(name: string, schema: Schema): Generator<[string, string]> {
  const { contentEncoding, maxLength, pattern } = schema;
  if (isShown(name, schema)) {
    yield [MARK, `"${MARK}"`];
    yield [`${MARK}\u001b`, String.raw`"${MARK}\u001b"`];
    yield [MARK.repeat(10), `"${MARK.repeat(10).slice(0, 64)}…"`];
  } else if (contentEncoding === "base64") yield [`${MARK}!`, ""];
  else if (maxLength !== undefined && pattern !== undefined) {
    yield [`${MARK}\u001b`, ""];
    yield [MARK.repeat(1_000), ""];
  } else if (maxLength !== undefined) yield [MARK.padEnd(maxLength + 1, "x"), `${maxLength + 1}`];
}

/** The same of values of any kind. */
function* badValues(name: string, schema: Schema): Generator<[unknown, string]> {
  const { type, items, maxItems, minimum, maximum, additionalProperties } = schema;
  const number = NUMBER + 0.25;
  const isMap = typeof additionalProperties === "object";
  switch (type ?? typeof schema.const) {
    case "string":
      yield* badTexts(name, schema);
      yield [number, isShown(name, schema) ? `${number}` : "a number"];
      yield [null, "null"];
      yield [[MARK], "an array"];
      yield [{ [MARK]: MARK }, "an object"];
      return;
    case "boolean":
      yield [MARK, `"${MARK}"`];
      yield [NUMBER, `${NUMBER}`];
      return;
    case "number":
    case "integer":
      yield [MARK, `"${MARK}"`];
      yield [[MARK], "an array"];
      if (type === "integer") yield [number, `${number}`];
      if (minimum !== undefined) yield [minimum - NUMBER, `${minimum - NUMBER}`];
      if (maximum !== undefined && maximum < NUMBER) yield [maximum + NUMBER, `${maximum + NUMBER}`];
      return;
    case "array":
      yield [MARK, "a string"];
      yield [{ [MARK]: MARK }, "an object"];
      if (maxItems !== undefined)
        yield [
          Array.from({ length: maxItems + 1 }, (_, n) => (items?.type === "number" ? n + 1 : MARK)),
          `${maxItems + 1}`,
        ];
      return;
    case "object":
      yield [MARK, isMap ? "" : "a string"];
      yield [[], isMap ? "" : "an array"];
      yield [[MARK], isMap ? "" : "an array"];
      if (isMap) yield [{ [MARK]: [MARK] }, ""];
      return;
    default:
      throw new Error(`${name}: has no values that it cannot have`);
  }
}

/** A query has texts only. */
function* badParameters(name: string, schema: Schema): Generator<[string, string]> {
  if (schema.type === "integer") yield [MARK, `"${MARK}"`];
  else yield* badTexts(name, schema);
}

describe("what a request cannot be", () => {
  let every: EveryCall;
  beforeAll(async () => {
    every = await startWithEveryCall();
  });
  afterAll(() => every.admin[Symbol.asyncDispose]());

  it("is 400, and names the field, what was sent and what to send; no record and no line of the log shows it", async () => {
    const { admin, calls, described, heard } = every;
    const wrong: string[] = [];
    const sent: string[] = [MARK];
    let looked = 0;
    const refused = async (call: Call, name: string, got: string, query: string, body?: unknown): Promise<void> => {
      looked++;
      const answer = await admin.call(call.method, call.path + query, body);
      const { error = "" } = answer.body as { readonly error?: string };
      const told =
        error
          .replace(/^invalid [a-z ]+: /, "")
          .split("; ")
          .find((one) => one.startsWith(`${name}: `)) ?? "";
      const ends = got === "" ? !told.includes("(got") : told.endsWith(` (got ${got})`);
      const showsNoMore = got.includes(MARK) || !error.includes(MARK);
      if (answer.status !== 400 || !REMEDY.test(told) || !ends || !showsNoMore)
        wrong.push(`${call.method} ${call.path}${query} ${name}, got ${got}: ${answer.status} ${error}`);
    };
    for (const call of calls) {
      if (isOverlay(call)) continue;
      for (const [path, part, bodyOf] of call.schema === undefined ? [] : partsOf(call.schema, described)) {
        const name = path.replace(/\.any$/, "");
        // Its own values are those of the map.
        if (name !== path) continue;
        for (const [bad, got] of badValues(name, part)) {
          if (typeof bad === "number") sent.push(`${bad}`);
          await refused(call, name, got, "", bodyOf(bad));
        }
      }
      for (const { name, schema } of call.parameters)
        for (const [bad, got] of badParameters(name, schema))
          await refused(call, name, got, `?${name}=${encodeURIComponent(bad)}`);
    }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(300);
    expect(admin.events.length).toBeGreaterThan(looked / 2);
    const all = heard().join();
    expect(sent.filter((one) => all.includes(one))).toEqual([]);
  });

  it("shows a text that may be a secret to nobody, nor in a record, a line of the log or an answer", async () => {
    const { admin, calls, described, heard, transaction } = every;
    const shown: string[] = [];
    const refused = async (method: string, path: string, body?: unknown, headers = {}): Promise<void> => {
      const init = { headers: { "X-API-Key": ADMIN_KEY, ...headers } };
      const answer = await admin.call(method, path, body, init);
      const text = JSON.stringify(answer.body);
      if ((answer.status !== 400 && answer.status !== 207) || CANARIES.some((one) => text.includes(one)))
        shown.push(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${text}`);
    };
    for (const { method, path, schema, parameters } of calls) {
      for (const [name, part, bodyOf] of schema === undefined ? [] : partsOf(schema, described)) {
        if (part.type !== "string" || isShown(name, part)) continue;
        for (const text of CANARIES) await refused(method, path, { ...(bodyOf(text) as object), surplus: text });
      }
      const rest = `surplus=${CANARY}${parameters.map(({ name }) => `&${name}=${CANARY}`).join("")}`;
      if (method === "GET" && path.startsWith("/")) await refused(method, `${path}?${rest}`);
    }
    for (const text of [
      `bridge: {id: "${CANARY}`,
      `bridge: ${CANARY}: x`,
      `bridge: *${CANARY}`,
      `bridge: !${CANARY} {}`,
      `bridge:\n  - ${CANARY}\n x: ${CANARY}`,
      CANARY,
      `- ${CANARY}`,
      `{"bridge": ${CANARY}`,
    ])
      await refused("PUT", `${transaction}/document`, { text });
    const line = { v: 1, entry: { last_error: CANARY }, envelope: { subject: CANARY, headers: { a: CANARY } } };
    await refused("POST", "/dlq/import", JSON.stringify({ ...line, payload: `${CANARY}!` }));
    await refused("POST", "/dlq/import", `{"payload": "${CANARY}`);
    await refused(
      "POST",
      "/dlq/jobs",
      { kind: "redrive", filter: {}, reason: "r" },
      { "Idempotency-Key": CANARY.repeat(9) },
    );
    expect(shown).toEqual([]);
    expect(CANARIES.filter((one) => heard().join().includes(one))).toEqual([]);
  });
});
