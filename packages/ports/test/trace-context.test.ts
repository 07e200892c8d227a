import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  boundTracestate,
  formatTraceparent,
  parseTraceparent,
  readTraceContext,
  writeTraceContext,
} from "../src/trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const VALID = `00-${TRACE}-${SPAN}-01`;

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""))
    .filter((text) => /[^0]/.test(text));

describe("traceparent", () => {
  test("what is written is read again", () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.constantFrom(0, 1, 2, 3), (traceId, spanId, flags) => {
        const context = { traceId, spanId, flags };
        expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
      }),
    );
  });

  test("one character that is another makes it another context or none", () => {
    fc.assert(
      fc.property(fc.nat(VALID.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, other) => {
        fc.pre(other !== VALID[at]);
        const changed = VALID.slice(0, at) + other + VALID.slice(at + 1);
        const parsed = parseTraceparent(changed);
        // A version that is not known is read like this one, and bits of the flags that are not known are left out.
        const same = /^[0-9a-f]$/.test(other) && (at < 2 || at > 52);
        expect(same || JSON.stringify(parsed) !== JSON.stringify(parseTraceparent(VALID))).toBe(true);
      }),
    );
  });

  test("whatever comes, it is a context that can be written or none", () => {
    const near = fc
      .tuple(hex(2), hex(32), hex(16), hex(2), fc.constantFrom("", "-", "-more", "x"))
      .map(([v, t, s, f, m]) => `${v}-${t}-${s}-${f}${m}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (text) => {
        const parsed = parseTraceparent(text);
        expect(parsed && parseTraceparent(formatTraceparent(parsed))).toEqual(parsed);
      }),
    );
  });

  test.each([
    ["nothing", ""],
    ["capital letters", VALID.toUpperCase()],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["a span id of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["more than version 00 has", `${VALID}-more`],
    ["a dash more", `${VALID}-`],
    ["a later version that goes on without a dash", `cc-${TRACE}-${SPAN}-01.more`],
    ["too few digits", `00-${TRACE.slice(1)}-${SPAN}-01`],
    ["two of them", `${VALID}, ${VALID}`],
    ["a space before it", ` ${VALID}`],
    ["a line break after it", `${VALID}\n`],
  ])("is none: %s", (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test.each(["cc", "01", "fe"])("a later version (%s) may have more to say", (version) => {
    const read = { traceId: TRACE, spanId: SPAN, flags: 1 };
    expect(parseTraceparent(`${version}-${TRACE}-${SPAN}-01`)).toEqual(read);
    expect(parseTraceparent(`${version}-${TRACE}-${SPAN}-01-what-will-be`)).toEqual(read);
  });

  test("flags that are not known are not handed on", () => {
    expect(formatTraceparent(parseTraceparent(`00-${TRACE}-${SPAN}-ff`) ?? fail())).toBe(`00-${TRACE}-${SPAN}-03`);
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-08`)?.flags).toBe(0);
  });
});

describe("tracestate", () => {
  test("comes with a traceparent, and not without", () => {
    expect(readTraceContext({ traceparent: VALID, tracestate: "a=1" })?.state).toBe("a=1");
    expect(readTraceContext({ traceparent: VALID })?.state).toBe("");
    expect(readTraceContext({ traceparent: "00", tracestate: "a=1" })).toBeUndefined();
    expect(readTraceContext({ tracestate: "a=1" })).toBeUndefined();
  });

  test("is handed on as it is", () => {
    for (const state of [
      "a=1",
      "a=1,b=2",
      "a=1 , b=2",
      "t0@sys/x*y=a b",
      "a=1,,b=2",
      "0a=!~",
      `a=${"x".repeat(256)}`,
    ]) {
      expect(boundTracestate(state)).toBe(state);
    }
  });

  test.each([
    ["no value", "a="],
    ["no key", "=1"],
    ["no pair", "a"],
    ["a capital letter", "A=1"],
    ["a key twice", "a=1,a=2"],
    ["a value with =", "a=1=2"],
    ["a value beyond ASCII", "a=ü"],
    ["a key of 257 characters", `${"a".repeat(257)}=1`],
    ["a value of 257 characters", `a=${"x".repeat(257)}`],
    ["33 members", Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(",")],
    ["only commas", ",,"],
    ["a megabyte", "a".repeat(1_000_000)],
  ])("malformed, it is left out and the traceparent counts: %s", (_, state) => {
    expect(readTraceContext({ traceparent: VALID, tracestate: state })).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      flags: 1,
      state: "",
    });
  });

  test("above 512 characters, long members go first, then those at the end", () => {
    const long = `long=${"x".repeat(200)}`;
    const short = Array.from({ length: 10 }, (_, i) => `k${i}=${"y".repeat(37)}`);
    expect(boundTracestate([long, ...short].join(","))).toBe(short.join(","));
    const many = Array.from({ length: 30 }, (_, i) => `k${i + 10}=${"z".repeat(20)}`);
    expect(boundTracestate(many.join(","))).toBe(many.slice(0, 20).join(","));
  });

  test("whatever comes, at most 512 characters of whole members go out", () => {
    const member = fc.tuple(fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/), fc.stringMatching(/^[!-+]{1,256}$/));
    fc.assert(
      fc.property(fc.array(member, { maxLength: 40 }), (members) => {
        const texts = members.map(([key, value]) => `${key}=${value}`);
        const bound = boundTracestate(texts.join(","));
        expect(bound.length).toBeLessThanOrEqual(512);
        for (const one of bound === "" ? [] : bound.split(",")) expect(texts).toContain(one);
      }),
    );
  });
});

describe("headers", () => {
  test("a context takes the place of the one before, and of its tracestate", () => {
    const headers = { traceparent: VALID, tracestate: "a=1", other: "x" };
    const written: Record<string, string> = { ...headers };
    writeTraceContext(written, {
      traceId: "1".repeat(32),
      spanId: "2".repeat(16),
      flags: 0,
      state: "",
    });
    expect({ ...written }).toEqual({ traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-00`, other: "x" });
    expect(headers.traceparent).toBe(VALID);
  });
});

function fail(): never {
  throw new Error("not a traceparent");
}
