import { RESERVED, type SourceMessage } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INGRESS_LIMITS, normalise } from "../../src/route/ingress.ts";
import { FakeClock } from "../support/fake-clock.ts";

const context = { sourceId: "in", clock: new FakeClock(), random: { next: () => 0.5, id: () => "minted" } };
const payload = new Uint8Array([1, 2, 3]);

describe("spec 4.4.1, 4.6.4: the ingress normaliser", () => {
  test("header names come in lower case", () => {
    const { envelope } = normalise({ id: "m", subject: "s", payload, headers: { "X-Device": "D7" } }, context);
    expect({ ...envelope.headers }).toEqual({ "x-device": "D7" });
  });

  test("finding 6.11: of a name in two letter cases neither value is lost", () => {
    const { envelope } = normalise({ id: "m", subject: "s", payload, headers: { "X-A": "1", "x-a": "2" } }, context);
    expect({ ...envelope.headers }).toEqual({ "x-a": "1, 2" });
  });

  test("reserved headers are stripped, whatever their letter case and spelling", () => {
    const anyCase = fc
      .tuple(
        fc.constantFrom(...Object.values(RESERVED), "x-bridge.anything"),
        fc.array(fc.boolean(), { maxLength: 30 }),
      )
      .map(([name, upper]) => [...name].map((char, at) => (upper[at] === true ? char.toUpperCase() : char)).join(""));
    const fullWidth = (name: string): string =>
      [...name].map((char) => String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfe_e0)).join("");
    fc.assert(
      fc.property(anyCase, fc.constantFrom("", " ", "\t"), fc.boolean(), (name, space, wide) => {
        const headers = { [space + (wide ? fullWidth(name) : name)]: "steer" };
        const { envelope } = normalise({ id: "m", subject: "s", payload, headers }, context);
        expect(Object.keys(envelope.headers)).toEqual([]);
      }),
    );
  });

  test("without a stable identity an id is minted and marked; with one it is kept and not marked", () => {
    expect(normalise({ subject: "s", payload }, context).envelope).toMatchObject({
      id: "minted",
      correlationId: "minted",
      headers: { [RESERVED.generatedId]: "true" },
    });
    const own = normalise({ id: "m", subject: "s", payload }, context).envelope;
    expect(own.id).toBe("m");
    expect(own.headers[RESERVED.generatedId]).toBeUndefined();
    expect(normalise({ dedupId: "d", subject: "s", payload }, context).envelope).toMatchObject({
      id: "d",
      headers: { [RESERVED.dedupId]: "d" },
    });
  });

  test("the correlation id is the source's, else the envelope id", () => {
    expect(normalise({ id: "m", correlationId: "c", subject: "s", payload }, context).envelope.correlationId).toBe("c");
    expect(normalise({ id: "m", subject: "s", payload }, context).envelope.correlationId).toBe("m");
  });

  test("ordering key and deduplication id travel as reserved headers that only the bridge sets", () => {
    const headers = { "x-bridge.ordering-key": "forged" };
    const { envelope } = normalise({ id: "m", orderingKey: "k", subject: "s", payload, headers }, context);
    expect(envelope.headers[RESERVED.orderingKey]).toBe("k");
  });

  test("names that mean something to an object are only names", () => {
    const headers = JSON.parse('{"__proto__": "p", "constructor": "c", "": "nameless"}') as Record<string, string>;
    const { envelope } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(Object.keys(envelope.headers).toSorted()).toEqual(["", "__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["p"]).toBeUndefined();
  });

  test("counts and sizes are bounded: what is above is rejected, with as much of the message as may be kept", () => {
    const many = Object.fromEntries(Array.from({ length: INGRESS_LIMITS.headers + 1 }, (_, at) => [`h${at}`, "v"]));
    const wide = { wide: "v".repeat(INGRESS_LIMITS.headerSize) };
    for (const [what, message] of [
      ["the number of headers", { id: "m", subject: "s", payload, headers: many }],
      ["the size of the headers", { id: "m", subject: "s", payload, headers: wide }],
      ["the id", { id: "m".repeat(INGRESS_LIMITS.idLength + 1), subject: "s", payload }],
      ["the deduplication id", { dedupId: "m".repeat(INGRESS_LIMITS.idLength + 1), id: "m", subject: "s", payload }],
      ["the ordering key", { id: "m", subject: "s", payload, orderingKey: "k".repeat(INGRESS_LIMITS.idLength + 1) }],
      [
        "the correlation id",
        { correlationId: "m".repeat(INGRESS_LIMITS.idLength + 1), id: "m", subject: "s", payload },
      ],
      ["the subject", { id: "m", subject: "s".repeat(INGRESS_LIMITS.subjectLength + 1), payload }],
    ] as const) {
      const { envelope, error } = normalise(message, context);
      expect(error?.class).toBe("rejected");
      expect(error?.message).toMatch(new RegExp(`^${what}.* above the limit of`));
      expect(envelope.payload).toBe(payload);
      expect(Object.keys(envelope.headers).length).toBeLessThanOrEqual(INGRESS_LIMITS.headers + 1);
    }
  });

  test("a header that is too large takes no other with it, and the error names it", () => {
    const headers = { large: "v".repeat(INGRESS_LIMITS.headerSize), tenant: "acme", device: "7" };
    const { envelope, error } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(envelope.headers).toMatchObject({ tenant: "acme", device: "7" });
    expect(envelope.headers["large"]).toBeUndefined();
    expect(error?.message).toMatch(/; left out: large$/);
  });

  test("of thousands of headers that are left out the error names a few", () => {
    const headers = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`h${at}`.padEnd(200, "x"), "v"]));
    const { error } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(error?.message).toMatch(/left out: h\S+, .* and \d+ more$/);
    expect(error?.message.length).toBeLessThan(1_000);
  });

  test.each(["id", "subject", "contentType", "correlationId", "dedupId", "orderingKey"])(
    "%s is text, or the message is refused with what else there is of it",
    (part) => {
      const message = { id: "m", subject: "s", payload, headers: { device: "7" }, [part]: 5 };
      const { envelope, error } = normalise(message, context);
      expect(error).toMatchObject({ code: "INVALID_PAYLOAD", class: "rejected" });
      expect(error?.message).toContain(`${part} is a number, not text`);
      const subject = part === "subject" ? "" : "s";
      expect(envelope).toMatchObject({ id: part === "id" ? "minted" : "m", subject, payload });
      expect(envelope.headers["device"]).toBe("7");
    },
  );

  test.each(["id", "subject", "contentType", "correlationId", "dedupId", "orderingKey"])(
    "half a character in the %s is refused: nothing after it would carry it, or tell it from another one",
    (part) => {
      const message = { id: "m", subject: "s", payload, [part]: "order 1 \ud83d" };
      const { envelope, error } = normalise(message, context);
      expect(error).toMatchObject({ code: "INVALID_PAYLOAD" });
      expect(error?.message).toMatch(new RegExp(`^half a character .*stands in ${part} of the message`));
      expect(envelope.id).toBe(part === "id" ? "minted" : "m");
      expect(JSON.stringify(envelope)).not.toContain(String.raw`\ud83d`);
      expect(envelope.headers).toEqual(part === "id" ? { [RESERVED.generatedId]: "true" } : {});
    },
  );

  test.each(["id", "subject", "contentType", "correlationId", "dedupId", "orderingKey"])(
    "an object that behaves like text is none: %s",
    (part) => {
      const message = { id: "m", subject: "s", payload, [part]: Object("text") as string };
      expect(normalise(message, context).error?.message).toContain(`${part} is an object, not text`);
    },
  );

  test("a payload that is none is refused, and the bytes that there are of it are kept", () => {
    const message = { id: "m", subject: "s", payload: "text" } as unknown as SourceMessage;
    const { envelope, error } = normalise(message, context);
    expect(error?.message).toBe(
      "the message is not what its source has to hand over: payload is a string, not a Uint8Array",
    );
    expect(envelope.payload).toEqual(Buffer.from("text"));
    expect(error).not.toHaveProperty("cause");
  });

  test("all that a message lacks is named, up to three faults", () => {
    const message = { id: 5, expiresAt: "soon", payload: 5, contentType: 5 } as unknown as SourceMessage;
    expect(normalise(message, context).error?.message).toBe(
      "the message is not what its source has to hand over: it has no subject; payload is a number, not a Uint8Array; expiresAt is no time in epoch milliseconds",
    );
  });

  test("an expiry is a time in epoch milliseconds, or the message is refused without it", () => {
    const message = { id: "m", subject: "s", payload };
    for (const expiresAt of [5, 8.64e15, -8.64e15]) {
      expect(normalise({ ...message, expiresAt }, context)).toMatchObject({
        envelope: { expiresAt },
        error: undefined,
      });
    }
    expect(normalise(message, context).envelope).not.toHaveProperty("expiresAt");
    for (const expiresAt of [Number.NaN, 8.65e15, "5", new Date(5)]) {
      const { envelope, error } = normalise({ ...message, expiresAt } as unknown as SourceMessage, context);
      expect(error?.message).toContain("expiresAt is no time in epoch milliseconds");
      expect(envelope).not.toHaveProperty("expiresAt");
    }
  });

  test("empty ids are none", () => {
    const { envelope } = normalise({ id: "", dedupId: "", orderingKey: "", subject: "s", payload }, context);
    expect(envelope).toMatchObject({ id: "minted", correlationId: "minted" });
    expect({ ...envelope.headers }).toEqual({ [RESERVED.generatedId]: "true" });
    const named = normalise({ id: "m", dedupId: "", orderingKey: "", subject: "s", payload, headers: {} }, context);
    expect({ ...named.envelope.headers }).toEqual({});
  });

  test("a minted id is marked beside the headers of its message", () => {
    const { envelope } = normalise({ subject: "s", payload, headers: { device: "7" } }, context);
    expect({ ...envelope.headers }).toEqual({ device: "7", [RESERVED.generatedId]: "true" });
  });

  test("what is as long as the limits allow comes in whole, and what is longer is not another message's", () => {
    const id = "m".repeat(INGRESS_LIMITS.idLength);
    const subject = "s".repeat(INGRESS_LIMITS.subjectLength);
    const headers = { wide: "v".repeat(INGRESS_LIMITS.headerSize - "wide".length) };
    const longest = { id, dedupId: id, orderingKey: id, correlationId: id, subject, payload, headers };
    const { envelope, error } = normalise(longest, context);
    expect(error).toBeUndefined();
    expect(envelope).toMatchObject({ id, correlationId: id, subject, headers });
    const above = normalise({ ...longest, id: `${id}m`, dedupId: undefined }, context);
    expect(above.envelope).toMatchObject({ id: "minted", correlationId: id });
    expect(above.error?.message).toMatch(/^the id of the message is above the limit/u);
    const other = normalise({ ...longest, orderingKey: `${id}m` }, context);
    expect(other.envelope.id).toBe(id);
    expect(other.error?.message).toMatch(/^the ordering key of the message is above the limit/u);
    expect({ ...other.envelope.headers }).toEqual({ ...headers, [RESERVED.dedupId]: id });
  });

  test.each(["id", "correlationId", "dedupId"])(
    "a message whose %s is too long keeps the ordering key that younger ones wait by",
    (part) => {
      const long = "l".repeat(INGRESS_LIMITS.idLength + 1);
      const { envelope } = normalise({ id: "m", subject: "s", payload, orderingKey: "k", [part]: long }, context);
      expect(envelope.headers[RESERVED.orderingKey]).toBe("k");
    },
  );

  test("which limit the first header that is left out was above is told", () => {
    const many = Object.fromEntries(Array.from({ length: INGRESS_LIMITS.headers }, (_, at) => [`h${at}`, "v"]));
    const wide = "v".repeat(INGRESS_LIMITS.headerSize);
    const whyOf = (headers: Record<string, string>) =>
      normalise({ id: "m", subject: "s", payload, headers }, context).error?.message;
    expect(whyOf({ ...many, more: "v", wide })).toMatch(/^the number of headers.*left out: more, wide$/u);
    expect(whyOf({ wide, ...many, more: "v" })).toMatch(/^the size of the headers.*left out: wide, more$/u);
  });

  test("of many headers with half a character five are named", () => {
    const headers = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`h${at}`, "\ud83d"]));
    const { error } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(error?.message).toContain('header "h4" of the message');
  });

  test.each([
    ["a Map", new Map([["device", "7"]])],
    ["a list", ["device"]],
    ["text", "device"],
    ["null", null],
  ])("headers are a plain object, or the message is refused with what else there is of it: not %s", (_, headers) => {
    const message = { id: "m", subject: "s", payload, headers } as unknown as SourceMessage;
    const { envelope, error } = normalise(message, context);
    expect(error).toMatchObject({ code: "INVALID_PAYLOAD" });
    expect(error?.message).toContain("headers is no plain object of texts");
    expect(envelope).toMatchObject({ id: "m", subject: "s", payload, headers: {} });
  });

  test("a header that is no text is named, one without a value is none, and the others are kept", () => {
    const headers = { device: "7", none: undefined, ["n".repeat(200)]: 5 } as unknown as Record<string, string>;
    const { envelope, error } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(error?.message).toBe(
      `the message is not what its source has to hand over: header "${"n".repeat(100)}" is a number, not text`,
    );
    expect({ ...envelope.headers }).toEqual({ device: "7" });
  });

  test("headers whose names cannot be read are refused for that alone", () => {
    const thrown = new Error("looked at");
    const thrower = (): never => {
      throw thrown;
    };
    const headers = new Proxy({}, { ownKeys: thrower, get: thrower });
    const { error } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(error?.message).toBe("the message is not what its source has to hand over: headers cannot be read");
    expect(error?.cause).toBe(thrown);
  });

  test("a message that is another one each time that it is read is refused, and kept as it was read last", () => {
    let reads = 0;
    const message = {
      id: "m",
      payload,
      get subject() {
        return reads++ === 0 ? (5 as never) : "s";
      },
    };
    const { envelope, error } = normalise(message, context);
    expect(error).toMatchObject({
      code: "INVALID_PAYLOAD",
      message: "the message is not what its source has to hand over: it was not the same when it was read again",
    });
    expect(envelope).toMatchObject({ id: "m", subject: "s" });
  });

  test("half a character in the name or the value of a header is refused, and no other header with it", () => {
    const headers = { "a\ud83d": "1", b: "\ude00", whole: "\u{1f600}" };
    const { envelope, error } = normalise({ id: "m", subject: "s", payload, headers }, context);
    expect(error?.code).toBe("INVALID_PAYLOAD");
    expect(error?.message).toContain(String.raw`stands in header "a\ud83d", header "b" of the message`);
    expect(envelope.headers).toEqual({ "a\ufffd": "1", b: "\ufffd", whole: "\u{1f600}" });
  });

  test("a text that is cut at its limit is not cut within a character", () => {
    const subject = `${"s".repeat(INGRESS_LIMITS.subjectLength - 1)}\u{1f600}`;
    expect(normalise({ id: "m", subject, payload }, context).envelope.subject.isWellFormed()).toBe(true);
  });

  test("any message makes an envelope with an id, and never one with a header of the bridge that the bridge did not set", () => {
    // All code points, as with the unit "binary", which takes more than a second to be set up.
    const unit = fc.integer({ min: 0, max: 0x10_ff_ff }).map((point) => String.fromCodePoint(point));
    const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit, maxLength: 40 }));
    const messages = fc.record(
      { id: text, subject: text, payload: fc.uint8Array(), headers: fc.dictionary(text, text), correlationId: text },
      { requiredKeys: ["subject", "payload"] },
    );
    fc.assert(
      fc.property(messages, (message) => {
        const { envelope } = normalise(message, context);
        expect(envelope.id).not.toBe("");
        expect(JSON.stringify(envelope)).not.toMatch(/\\ud[89a-f]/);
        const reserved = Object.keys(envelope.headers).filter((name) => name.startsWith("x-bridge."));
        expect(reserved).toEqual(envelope.id === "minted" ? [RESERVED.generatedId] : []);
      }),
    );
  });
});
