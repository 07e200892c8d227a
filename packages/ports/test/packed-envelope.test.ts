import fc from "fast-check";
import { expect, test } from "vitest";
import { type Envelope } from "../src/index.ts";
import { packEnvelope, unpackEnvelope } from "../src/internal.ts";

const anyText = fc.string({ unit: "binary" });
const name = fc.oneof(anyText, fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty"));
const headers = fc
  .array(fc.tuple(name, anyText), { maxLength: 8 })
  .map((pairs): Record<string, string> => Object.fromEntries(pairs));

const envelope = fc
  .record({
    id: anyText,
    sourceId: anyText,
    subject: anyText,
    contentType: anyText,
    headers,
    payload: fc.uint8Array(),
    correlationId: anyText,
    receivedAt: fc.maxSafeNat(),
    expiresAt: fc.option(fc.maxSafeNat(), { nil: undefined }),
    own: fc.boolean(),
  })
  .map(({ expiresAt, own, ...rest }): Envelope => {
    const whole = own ? rest : { ...rest, correlationId: rest.id };
    return expiresAt === undefined ? whole : { ...whole, expiresAt };
  });

test("an envelope comes back as it went in, awkward names, control characters and lone surrogates too", () => {
  fc.assert(
    fc.property(envelope, (original) => {
      const back = unpackEnvelope(packEnvelope(original), original.payload);
      expect(back).toStrictEqual(original);
      expect(Object.keys(back.headers)).toEqual(Object.keys(original.headers));
    }),
  );
});

test("the payload is no part of the text", () => {
  fc.assert(
    fc.property(envelope, (original) => {
      expect(packEnvelope({ ...original, payload: new Uint8Array(10_000) })).toBe(packEnvelope(original));
    }),
  );
});
