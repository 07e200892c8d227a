import { statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { unquoting } from "../src/unquoting.ts";

const SECRET = "QwErTy-canary";

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
}

const HERE = /\n {4}at .*unquoting\.test\.ts\S*:\d+:\d+/;

describe("what the log says of an error that nobody expected", () => {
  it("is its name, its code and where it arose", () => {
    const told = unquoting(thrownBy(() => statSync(`${SECRET}\0`)));
    expect(told).toMatch(/^TypeError \[ERR_INVALID_ARG_VALUE\]\n/);
    expect(told).toMatch(HERE);
    expect(told).not.toContain(SECRET);
  });

  it.each([
    ["of several lines", new Error(`${SECRET}\n    at ${SECRET} (/x/${SECRET}.ts:1:1)\n${SECRET}`)],
    ["that was empty", new Error("")],
    ["within a cause", new Error("outer", { cause: new SyntaxError(`${SECRET} is not valid JSON`) })],
    [
      "of many causes",
      [1, 2, 3, 4, 5, 6].reduce((cause, at) => new Error(`${SECRET}${at}`, { cause }), new Error(SECRET)),
    ],
    ["of several errors", new AggregateError([new Error(SECRET)], SECRET)],
  ])("is without a message %s", (_, error) => {
    expect(unquoting(error)).toMatch(HERE);
    expect(unquoting(error)).not.toContain(SECRET);
  });

  it("has no places when the message was changed: they begin nowhere", () => {
    const changed = new Error(`${SECRET}\n    at ${SECRET} (/x/${SECRET}.ts:1:1)`);
    expect(changed.stack).toContain(SECRET);
    changed.message = "another";
    expect(unquoting(changed)).toBe("Error");
  });

  it.each([
    [Object.assign(new Error("x"), { name: `not ${SECRET}`, code: `not ${SECRET}` }), /^Error\n/],
    [Object.assign(new Error("x"), { stack: undefined, code: 7 }), /^Error \[7\]$/],
    [SECRET, /^thrown: string$/],
    [null, /^thrown: null$/],
    [{ message: SECRET }, /^thrown: object$/],
  ])("is no text that somebody has put where another belongs: %#", (thrown, expected) => {
    expect(unquoting(thrown)).toMatch(expected);
    expect(unquoting(thrown)).not.toContain(SECRET);
  });
});
