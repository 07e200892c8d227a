import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprintOf, SpoiledDeadLetter, spoiledRecord } from "../src/internal.ts";

const FAILURE = { routeId: "orders", bindingId: "to-shop", errorCode: "UNAVAILABLE" } as const;
const of = (lastError: string, rest: object = {}) => fingerprintOf({ ...FAILURE, lastError, ...rest });

const varying = fc.oneof(
  fc.uuid(),
  fc.integer().map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((n) => n.toFixed(2)),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString()),
  fc.ipV4(),
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 8, maxLength: 64 }),
  fc.string({ unit: fc.constantFrom(..."abc 123-/"), maxLength: 30 }).map((text) => `"${text}"`),
);

test("operators 1.5: 10,000 ids, numbers and times in one text come to one fingerprint", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(varying, varying, (id, when) => {
      seen.add(of(`503 from the shop for ${id}, tried at ${when}`));
    }),
    { numRuns: 10_000 },
  );
  expect([...seen]).toEqual([of("503 from the shop for 17, tried at 2026-11-22T10:00:00.000Z")]);
});

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** As random as ids are. */
const idOf = (unit: string, length: number) =>
  fc.nat().map((seed) => {
    const bytes = hash("sha512", `${unit} ${seed}`, "buffer").subarray(0, length);
    return [...bytes].map((byte) => unit[byte % unit.length]).join("");
  });
/** One in hundreds has no digit, or none but at its end, and reads like a word. */
const readsLikeNoWord = (id: string): boolean => /\d[a-z]/i.test(id);
const hasBothCases = (id: string): boolean => /[a-z]/.test(id) && /[A-Z]/.test(id);
const ids = {
  uuid: fc.uuid(),
  "uuid in capitals": fc.uuid().map((id) => id.toUpperCase()),
  ulid: fc.ulid(),
  base32: idOf(BASE32, 26).filter(readsLikeNoWord),
  "base32 of Crockford, in small letters": idOf(CROCKFORD.toLowerCase(), 26).filter(readsLikeNoWord),
  base62: idOf(BASE64URL.slice(0, -2), 22).filter(readsLikeNoWord),
  base64url: idOf(BASE64URL, 32).filter((id) => readsLikeNoWord(id) && hasBothCases(id) && !/^[-_]|[-_]$/.test(id)),
  hexadecimal: fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 8, maxLength: 64 }),
};

test.each(Object.entries(ids))("spec 2.7: errors that differ only in an id are of one kind: %s", (_, id) => {
  fc.assert(
    fc.property(id, id, fc.constantFrom(" ", ": ", "=", "(", "order-", "msg_"), (one, other, before) => {
      const error = (unknown: string) => `the shop does not know ${before}${unknown}, try another`;
      expect(of(error(one))).toBe(of(error(other)));
    }),
    { numRuns: 2_000 },
  );
});

test("spec 2.7: errors that differ in what somebody has called something are of several kinds", () => {
  const names = ["orders-eu-west", "invoices-eu-west", "PaymentGatewayTimeout", "StockServiceTimeout2"];
  const more = [
    "UNABLE_TO_VERIFY_LEAF",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "eu-west-1-orders-to-ship",
    "eu-west-1-bills-to-send",
  ];
  const kinds = [...names, ...more].map((name) => of(`${name} is away`));
  expect(new Set(kinds).size).toBe(kinds.length);
});

test("spec 2.7: of entries and records that are not as they were written each are of one kind, whatever their ids", () => {
  const any = fc.oneof(fc.string({ unit: "binary", maxLength: 1_000 }), ...Object.values(ids), varying);
  fc.assert(
    fc.property(any, any, (one, other) => {
      for (const error of [(id: string) => new SpoiledDeadLetter(id), spoiledRecord])
        expect(of(error(one).message)).toBe(of(error(other).message));
    }),
    { numRuns: 2_000 },
  );
});

test("operators 1.5: 200 texts come to 200 fingerprints", () => {
  const words = "abcdefghijklmnopqrst".split("").map((letter) => `${letter}y`);
  const texts = words.flatMap((one) => words.slice(0, 10).map((other) => `the ${one} refused the ${other}`));
  expect(new Set(texts.map((text) => of(text))).size).toBe(200);
});

test("route, binding and code tell failures with one text apart", () => {
  const others = [{}, { routeId: "r" }, { bindingId: "b" }, { errorCode: "TIMEOUT" }];
  expect(new Set(others.map((rest) => of("away", rest))).size).toBe(4);
});

test("is 16 hexadecimal digits, whatever the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 3_000 }), (text) => {
      expect(of(text)).toMatch(/^[0-9a-f]{16}$/);
    }),
  );
});
