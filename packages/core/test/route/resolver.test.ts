import { describe, expect, test } from "vitest";
import { compileResolver } from "../../src/route/resolver.ts";
import { envelopeOf } from "../support/envelope.ts";

const message = envelopeOf({ subject: "plant/7/alarm", headers: { kind: "alarm" } });

describe("resolvers", () => {
  const alarm = { when: [{ field: "header.kind", op: "eq", value: "alarm" } as const], bindings: ["a"] };
  const plant = { when: [{ field: "subject", op: "prefix", value: "plant/" } as const], bindings: ["b"] };

  test("rules: the first rule that matches wins, all of its conditions must hold, else the default", () => {
    expect(compileResolver({ type: "rules", rules: [alarm, plant], defaultBindings: ["c"] }, [])(message)).toEqual([
      "a",
    ]);
    expect(compileResolver({ type: "rules", rules: [plant, alarm], defaultBindings: ["c"] }, [])(message)).toEqual([
      "b",
    ]);
    const both = {
      when: [...plant.when, { field: "header.kind", op: "eq", value: "event" } as const],
      bindings: ["d"],
    };
    expect(compileResolver({ type: "rules", rules: [both], defaultBindings: ["c"] }, [])(message)).toEqual(["c"]);
    expect(compileResolver({ type: "rules", rules: [], defaultBindings: [] }, [])(message)).toBeUndefined();
  });

  test("header_map chooses by the exact value", () => {
    const map = new Map([["alarm", ["a"]]]);
    expect(compileResolver({ type: "header_map", header: "kind", map, defaultBindings: [] }, [])(message)).toEqual([
      "a",
    ]);
    expect(compileResolver({ type: "header_map", header: "none", map, defaultBindings: ["z"] }, [])(message)).toEqual([
      "z",
    ]);
    expect(
      compileResolver({ type: "header_map", header: "none", map, defaultBindings: [] }, [])(message),
    ).toBeUndefined();
  });

  test("header_map: a header that is not there is none of its values, an empty one included", () => {
    const map = new Map([["", ["e"]]]);
    const choose = compileResolver({ type: "header_map", header: "kind", map, defaultBindings: ["z"] }, []);
    expect(choose(envelopeOf({ headers: { kind: "" } }))).toEqual(["e"]);
    expect(choose(envelopeOf({ headers: {} }))).toEqual(["z"]);
  });

  test("static and all", () => {
    expect(compileResolver({ type: "static", bindings: ["s"] }, ["x", "y"])(message)).toEqual(["s"]);
    expect(compileResolver({ type: "all" }, ["x", "y"])(message)).toEqual(["x", "y"]);
  });
});
