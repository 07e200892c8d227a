import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { schema as schemaPlugin } from "../src/index.ts";
import { bound, envelopeOf, json, make, text } from "./support/parts.ts";
import { problemsOf, startRoute } from "./support/route.ts";

const reading = {
  type: "object",
  properties: {
    device: { type: "object", properties: { id: { type: "string", format: "uuid" } }, required: ["id"] },
    values: { type: "array", items: { type: "number", maximum: 100 }, uniqueItems: true },
    at: { type: "string", format: "date-time" },
  },
  required: ["device"],
  additionalProperties: false,
};
const device = { id: "9ab0e6a4-4a55-4ee0-9d1c-6a2c3f1c9c11" };

async function verdict(schema: unknown, payload: Uint8Array): Promise<{ code: string; message: string } | "fits"> {
  await using processor = make(schemaPlugin, { schema });
  const envelope = envelopeOf({ payload });
  try {
    const result = await processor.process(envelope, bound());
    expect(result).toEqual({ kind: "pass", envelope });
    return "fits";
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

describe("schema", () => {
  test("a payload that fits passes as it is", async () => {
    expect(await verdict(reading, json({ device, values: [1, 2.5], at: "2026-02-28T12:00:00Z" }))).toBe("fits");
  });

  test.each([
    [{}, "the payload must have required property 'device'"],
    [[], "the payload must be object"],
    [{ device: { id: "x" } }, '/device/id must match format "uuid"'],
    [{ device, values: [1, 2, 101] }, "/values/2 must be <= 100"],
    [{ device, values: [1, 1] }, "/values must NOT have duplicate items (items ## 1 and 0 are identical)"],
    [{ device, at: "2026-02-30T12:00:00Z" }, '/at must match format "date-time"'],
    [{ device, extra: 1 }, "the payload must NOT have additional properties"],
  ])("%j: %s", async (payload, message) => {
    expect(await verdict(reading, json(payload))).toEqual({ code: "SCHEMA_VIOLATION", message });
  });

  test("a payload that is not JSON in UTF-8 is INVALID_PAYLOAD", async () => {
    const expected = { code: "INVALID_PAYLOAD", message: "the payload is not JSON in UTF-8" };
    expect(await verdict(reading, new TextEncoder().encode("{"))).toEqual(expected);
    expect(await verdict(reading, new Uint8Array([0x22, 0xff, 0x22]))).toEqual(expected);
    expect(await verdict(reading, new Uint8Array())).toEqual(expected);
  });

  test("a message names the place by the schema's own names, never by a name or value of the payload", async () => {
    const schema = {
      type: "object",
      properties: { known: { type: "object", additionalProperties: { type: "object", additionalProperties: false } } },
      additionalProperties: { enum: ["red"] },
      propertyNames: { maxLength: 60 },
    };
    await using processor = make(schemaPlugin, { schema });
    const canary = fc.stringMatching(/^[a-z0-9~/]{8,40}$/).map((name) => `zq${name}`);
    const payloads = fc
      .tuple(canary, canary)
      .chain(([a, b]) =>
        fc.constantFrom<unknown>(
          { [a]: b },
          { known: { [a]: b } },
          { known: { [a]: { [b]: 1 } } },
          { known: a },
          { [a.repeat(8)]: "red" },
        ),
      );
    await fc.assert(
      fc.asyncProperty(payloads, async (payload) => {
        const envelope = envelopeOf({ payload: json(payload) });
        const failure: unknown = await Promise.resolve(processor.process(envelope, bound())).catch((e: unknown) => e);
        expect(failure).toMatchObject({ code: "SCHEMA_VIOLATION" });
        expect((failure as Error).message).not.toContain("zq");
      }),
      { numRuns: 50 },
    );
    expect(await verdict(schema, json({ known: { a: { b: 1 } } }))).toEqual({
      code: "SCHEMA_VIOLATION",
      message: "/known/* must NOT have additional properties",
    });
  });

  test("a schema that refers to itself stops at the stack's end, as a violation", async () => {
    const nested = { $ref: "#/$defs/node", $defs: { node: { type: "array", items: { $ref: "#/$defs/node" } } } };
    expect(await verdict(nested, json([[[]]]))).toBe("fits");
    const depth = 200_000;
    expect(await verdict(nested, new TextEncoder().encode("[".repeat(depth) + "]".repeat(depth)))).toEqual({
      code: "SCHEMA_VIOLATION",
      message: "the payload is nested too deeply to be checked",
    });
  });

  test("a payload above max_bytes is not looked at", async () => {
    await using processor = make(schemaPlugin, { schema: { type: "string" }, max_bytes: 10 });
    await expect(processor.process(envelopeOf({ payload: json("123456789") }), bound())).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: "the payload has more than 10 bytes",
    });
    await expect(processor.process(envelopeOf({ payload: json("12345678") }), bound())).resolves.toBeDefined();
  });

  test.each([
    [{}, "needs either schema or file"],
    [{ schema: { type: "string" }, file: "x.json" }, "needs either schema or file"],
    [{ schema: { type: "text" } }, /^schema: not a JSON Schema \(2020-12\): .*type/],
    [{ schema: { type: "string", minimun: 1 } }, /unknown keyword: "minimun"/],
    [{ schema: { type: "string", format: "colour" } }, /unknown format "colour"/],
    [{ schema: { type: "string", pattern: "(" } }, /2020-12/],
    [{ schema: { $ref: "https://example.com/schema" } }, /can't resolve reference/],
    [{ schema: { $async: true, type: "string" } }, /\$async is not supported/],
    [{ schema: { $schema: "http://json-schema.org/draft-07/schema#" } }, /no schema with key or ref/],
  ])("options %j are refused", (options, message) => {
    expect(problemsOf("schema", options)).toEqual([expect.stringMatching(message)]);
  });
});

describe("a schema from a file", () => {
  test("is read once, when the processor is made", async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "schema-"));
    const file = join(folder.path, "reading.json");
    writeFileSync(file, JSON.stringify(reading));
    await using processor = make(schemaPlugin, { file });
    writeFileSync(file, "changed");
    await expect(processor.process(envelopeOf({ payload: json({ device }) }), bound())).resolves.toBeDefined();
    await expect(processor.process(envelopeOf({ payload: json({}) }), bound())).rejects.toMatchObject({
      code: "SCHEMA_VIOLATION",
    });
  });

  test.each([
    [undefined, /cannot be read: ENOENT/],
    ["{", /cannot be read: it is not JSON/],
    [" ".repeat(1_048_577), /cannot be read: it has more than 1048576 bytes/],
    ["[]", /holds no JSON object/],
    ['{"type":"text"}', /is not a JSON Schema/],
  ])("that cannot be used keeps the bridge from starting (%#)", async (content, message) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "schema-"));
    const file = join(folder.path, "reading.json");
    if (content !== undefined) writeFileSync(file, content);
    expect(problemsOf("schema", { file })).toEqual([]);
    const starting = startRoute([{ type: "schema", options: { file } }]);
    await expect(starting).rejects.toThrow(message);
    await expect(starting).rejects.toThrow(file);
  });
});

describe("schema in a route", () => {
  test("a message that does not fit is dead-lettered as SCHEMA_VIOLATION, with the processor's name", async () => {
    await using route = await startRoute([{ type: "schema", options: { schema: reading } }]);
    route.hub.publish("in", { id: "good", payload: JSON.stringify({ device }) });
    route.hub.publish("in", { id: "bad", payload: '{"device":{"id":5}}' });
    expect((await route.settled(2)).toSorted()).toEqual(["dead_lettered", "delivered"]);
    expect(text(route.hub.channel("out").messages()[0]?.payload)).toBe(JSON.stringify({ device }));
    const [entry] = await route.deadLetters();
    expect(entry).toMatchObject({
      category: "rejected",
      errorCode: "SCHEMA_VIOLATION",
      lastError: "processor p0: /device/id must be string",
      attempts: 1,
      envelope: { id: "bad" },
    });
  });

  test("a pattern that hangs on a hostile payload fails that message in time, and the others go through", async () => {
    const schema = { type: "string", pattern: "^(a+)+$" };
    await using route = await startRoute([{ type: "schema", options: { schema, timeout: "100ms" } }], {
      policy: { max_replay_attempts: 1 },
    });
    route.hub.publish("in", { id: "hostile", payload: JSON.stringify(`${"a".repeat(50)}!`) });
    for (let at = 0; at < 5; at++) route.hub.publish("in", { id: `m${at}`, payload: '"aaa"' });
    expect((await route.settled(6)).toSorted()).toEqual([
      "dead_lettered",
      ...Array.from({ length: 5 }, () => "delivered"),
    ]);
    expect(await route.deadLetters()).toMatchObject([{ errorCode: "TIMEOUT", envelope: { id: "hostile" } }]);
  });
});
