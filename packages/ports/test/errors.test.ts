import { describe, expect, test } from "vitest";
import { BridgeError, ERROR_CODES } from "../src/errors.ts";
import { carriedHeaders, isReserved, newHeaders, RESERVED } from "../src/headers.ts";

describe("spec 7.3: error codes", () => {
  test("each code has its class", () => {
    const codes = (wanted: string): string[] =>
      Object.entries(ERROR_CODES).flatMap(([code, errorClass]) => (errorClass === wanted ? [code] : []));
    expect(codes("transient")).toEqual(["TIMEOUT", "CONNECTION_LOST", "UNAVAILABLE", "THROTTLED", "INTERNAL"]);
    expect(codes("expired")).toEqual(["MESSAGE_EXPIRED"]);
    expect(codes("filtered")).toEqual(["MESSAGE_FILTERED"]);
    expect(codes("permanent")).toEqual(["NOT_AUTHORIZED", "FORBIDDEN", "DESTINATION_NOT_FOUND", "BINDING_UNRESOLVED"]);
    expect(new BridgeError("FORBIDDEN", "no").class).toBe("permanent");
  });

  test("classification is total: what nobody classified is INTERNAL, and keeps its cause", () => {
    const own = new BridgeError("TIMEOUT", "late");
    expect(BridgeError.from(own)).toBe(own);
    const cause = new TypeError("x is not a function");
    expect(BridgeError.from(cause)).toMatchObject({ code: "INTERNAL", message: "x is not a function", cause });
    for (const thrown of ["text", undefined, null, 5, {}]) expect(BridgeError.from(thrown).code).toBe("INTERNAL");
  });

  test("it has no frames, which would keep alive what it came from; its cause has, and so have other errors", () => {
    const cause = new TypeError("x is not a function");
    const error = BridgeError.from(cause);
    expect(error.stack).not.toContain("    at ");
    expect((error.cause as Error).stack).toContain("    at ");
    expect(new Error("of somebody else").stack).toContain("    at ");
  });

  test("an error of another copy of this package is recognised", () => {
    const foreign = { [Symbol.for("@bridge/error")]: true, code: "TIMEOUT" };
    expect(BridgeError.is(foreign)).toBe(true);
    expect(BridgeError.is(new Error("no"))).toBe(false);
  });
});

describe("reserved headers", () => {
  test.each(["x-bridge.anything", "X-BRIDGE.Dedup-Id", " x-bridge.a", "ｘ-ｂｒｉｄｇｅ．a"])(
    "%s belongs to the bridge",
    (name) => {
      expect(isReserved(name)).toBe(true);
    },
  );

  test.each([
    "x-bridge\u200b.a",
    "\u2060x-bri\u00addge.a",
    "\0x-bridge.a",
    "x-br\u0131dge.a",
    "X-BR\u0130DGE.a",
    "x-bri\u0301dge.a",
    "𝔵﹣𝗯𝖗𝑖𝕕𝐠𝚎․a",
  ])("so does %j, which a reader further on may take for it", (name) => {
    expect(isReserved(name)).toBe(true);
  });

  test.each(["x-bridge", "x-bridgehead.a", "ax-bridge.a", "", "x_bridge.a", "!x-bridge.a", "content-type", "d\u0301x"])(
    "%j does not",
    (name) => {
      expect(isReserved(name)).toBe(false);
    },
  );

  test("in new headers no name is there, and every name can be set", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const headers = newHeaders();
      expect(headers[name]).toBeUndefined();
      headers[name] = "mine";
      expect(headers[name]).toBe("mine");
      expect(Object.entries(headers)).toEqual([[name, "mine"]]);
      expect(newHeaders()[name]).toBeUndefined();
    }
  });

  test("of the bridge's own headers only the causation id goes out", () => {
    const headers = {
      [RESERVED.causationId]: "c",
      [RESERVED.generatedId]: "true",
      [RESERVED.dedupId]: "d",
      device: "7",
    };
    expect([...carriedHeaders(headers)]).toEqual([
      [RESERVED.causationId, "c"],
      ["device", "7"],
    ]);
  });
});
