import { describe, expect, test } from "vitest";
import { compileAddress } from "../../src/route/address-template.ts";
import { envelopeOf } from "../support/envelope.ts";

describe("addresses with placeholders", () => {
  const message = envelopeOf({
    id: "m7",
    subject: "plant/7",
    headers: Object.assign(Object.create(null) as object, { device: "d/1", empty: "" }),
  });

  test("are filled in from headers, in any letter case, and from the message itself", () => {
    expect(compileAddress("out/{Device}/x/{$id}", undefined)(message)).toBe("out/d/1/x/m7");
    expect(compileAddress("mirror/{$subject}", undefined)(message)).toBe("mirror/plant/7");
    expect(compileAddress("plain", undefined)(message)).toBe("plain");
    expect(compileAddress("", undefined)(message)).toBe("");
  });

  test("let the sender write each value, knowing what stands before it", () => {
    const seen: string[] = [];
    const addressing = {
      fill: (value: string, before: string) => {
        seen.push(before);
        return encodeURIComponent(value);
      },
    };
    expect(compileAddress("/a/{device}?q={device}", addressing)(message)).toBe("/a/d%2F1?q=d%2F1");
    expect(seen).toEqual(["/a/", "/a/{device}?q="]);
  });

  test("finding 1.6: a value is one level of the address, unless its placeholder says so, or is the subject", () => {
    const addressing = { separator: "/", fill: (value: string) => value };
    const device = (template: string): string => compileAddress(template, addressing)(message);
    expect(() => device("out/{device}/x")).toThrow(
      expect.objectContaining({
        code: "BINDING_UNRESOLVED",
        message:
          'the value for {device} holds "/", which parts the levels of the address: write {device...} if it may span them',
      }),
    );
    expect(device("out/{Device...}/x")).toBe("out/d/1/x");
    expect(device("out/{$subject}/{$id}")).toBe("out/plant/7/m7");
    expect(compileAddress("out/{device...}", undefined)(message)).toBe("out/d/1");
  });

  test("a value is whatever the header says where the sender parts no levels", () => {
    for (const device of ["undefined", "a/b", "{device}"]) {
      expect(compileAddress("out/{device}", undefined)(envelopeOf({ headers: { device } }))).toBe(`out/${device}`);
    }
  });

  test("a header that is missing or empty is BINDING_UNRESOLVED", () => {
    for (const name of ["missing", "empty", "__proto__"]) {
      expect(() => compileAddress(`/{${name}}`, undefined)(message)).toThrow(
        expect.objectContaining({ code: "BINDING_UNRESOLVED" }),
      );
    }
  });
});
