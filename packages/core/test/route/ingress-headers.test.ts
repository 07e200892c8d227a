import { BridgeError, RESERVED } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INGRESS_LIMITS, normalise, undecodable } from "../../src/route/ingress.ts";
import { FakeClock } from "../support/fake-clock.ts";

const context = { sourceId: "in", clock: new FakeClock(), random: { next: () => 0.5, id: () => "minted" } };
const message = { id: "m", subject: "s", payload: new Uint8Array([1, 2, 3]) };

/** `undefined`: a header without a value, which is none. */
const values = fc.oneof(
  { arbitrary: fc.constant("v"), weight: 50 },
  fc.constantFrom(undefined, "v".repeat(20_000), "v".repeat(40_000), "v".repeat(INGRESS_LIMITS.headerSize)),
);
/** Few or about as many as are allowed, and in some of them one that only the bridge sets. */
const headers = fc
  .oneof(fc.array(values, { maxLength: 8 }), fc.array(values, { minLength: 250, maxLength: 280 }))
  .chain((drawn) => fc.tuple(fc.constant(drawn), fc.nat({ max: drawn.length })))
  .map(([drawn, at]): [string, string | undefined][] => {
    const named = drawn.map((value, nth): [string, string | undefined] => [`h${nth}`, value]);
    return named.toSpliced(at, 0, [RESERVED.job, "v".repeat(INGRESS_LIMITS.headerSize)]);
  });

describe("headers", () => {
  test("come in one by one for as long as their number and the size of all together allow; the error names five of the others", () => {
    fc.assert(
      fc.property(headers, (given) => {
        const all: Record<string, string> = {};
        for (const [name, value] of given) Reflect.set(all, name, value);
        const kept = new Map<string, string>();
        const leftOut: string[] = [];
        let [size, why] = [0, ""];
        for (const [name, value] of given) {
          if (value === undefined || name === RESERVED.job) continue;
          const tooMany = kept.size === INGRESS_LIMITS.headers;
          if (tooMany || size + name.length + value.length > INGRESS_LIMITS.headerSize) {
            why ||= tooMany ? "the number of headers" : "the size of the headers";
            leftOut.push(name);
          } else {
            kept.set(name, value);
            size += name.length + value.length;
          }
        }
        const { envelope, error } = normalise({ ...message, headers: all }, context);
        expect({ ...envelope.headers }).toEqual(Object.fromEntries(kept));
        const rest = leftOut.length > 5 ? ` and ${leftOut.length - 5} more` : "";
        const named = `; left out: ${leftOut.slice(0, 5).join(", ")}${rest}`;
        if (leftOut.length === 0) expect(error).toBeUndefined();
        else expect([error?.message.startsWith(why), error?.message.endsWith(named)]).toEqual([true, true]);
      }),
    );
  });

  test("are texts: an object that behaves like one is none", () => {
    const texts: Record<string, string> = { other: "8" };
    Reflect.set(texts, "device", Object("7"));
    const { envelope, error } = normalise({ ...message, headers: texts }, context);
    expect(error?.message).toContain('header "device" is an object, not text');
    expect({ ...envelope.headers }).toEqual({ other: "8" });
  });

  test("whose name is long are named by its beginning", () => {
    const { error } = normalise({ ...message, headers: { ["n".repeat(5_000)]: "\ud83d" } }, context);
    expect(error?.message).toContain(`stands in header "${"n".repeat(100)}" of the message`);
  });

  test("are the same object for all messages that have none: so many may be in flight", () => {
    const headersOf = (id: string | undefined) => normalise({ ...message, id }, context).envelope.headers;
    expect(headersOf("m1")).toBe(headersOf("m2"));
    expect(headersOf(undefined)).toBe(headersOf(undefined));
  });
});

test("a message that its adapter could not decode is refused: for what the adapter says if that is a refusal, else with it as the cause", () => {
  const refused = new BridgeError("PAYLOAD_TOO_LARGE", "above 1 MB");
  expect(undecodable(refused)).toBe(refused);
  const away = new BridgeError("UNAVAILABLE", "the schema registry is away");
  expect(undecodable(away)).toMatchObject({ code: "INVALID_PAYLOAD", message: away.message, cause: away });
});
