import { BridgeError, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { stackOf } from "../../src/route/stack-of.ts";
import { Surprises } from "../../src/route/surprises.ts";
import { FakeClock } from "../support/fake-clock.ts";

function stage() {
  const clock = new FakeClock();
  const lines: (Readonly<Record<string, unknown>> | undefined)[] = [];
  const logger = { ...silentLogger, error: (_: string, fields?: object) => void lines.push({ ...fields }) };
  return { clock, lines, surprises: new Surprises(logger, clock) };
}

test("what nobody has classified is logged with who threw it, and where; what an adapter has classified is not", () => {
  const { lines, surprises } = stage();
  const thrown = new TypeError("rude");
  surprises.tell("binding out", thrown, { envelope_id: "m1" });
  surprises.tell("binding out", new BridgeError("INTERNAL", "known"));
  surprises.tell("the route", "a text");
  expect(lines).toEqual([
    { where: "binding out", envelope_id: "m1", error: "rude", stack: thrown.stack },
    { where: "the route", error: "a text", stack: undefined },
  ]);
});

test("five lines in a minute are enough; the first of the next minute says how many there were besides", async () => {
  const { clock, lines, surprises } = stage();
  for (let at = 0; at < 8; at++) surprises.tell("the route", new Error(`${at}`));
  expect(lines.map((line) => line?.["error"])).toEqual(["0", "1", "2", "3", "4"]);
  await clock.advance(59_999);
  surprises.tell("the route", new Error("8"));
  expect(lines).toHaveLength(5);
  await clock.advance(1);
  for (let at = 9; at < 16; at++) surprises.tell("the route", new Error(`${at}`));
  expect(lines.slice(5).map((line) => [line?.["error"], line?.["untold"]])).toEqual([
    ["9", 4],
    ["10", undefined],
    ["11", undefined],
    ["12", undefined],
    ["13", undefined],
  ]);
});

test("only an error has a stack, and only one that can be read", () => {
  const thrower = (): never => {
    throw new Error("looked at");
  };
  const error = new Error("x");
  expect(stackOf(error)).toBe(error.stack);
  expect(stackOf(Object.assign(new Error("x"), { stack: 5 }))).toBeUndefined();
  for (const thrown of [undefined, "x", { stack: "a" }, new Proxy(error, { get: thrower, getPrototypeOf: thrower })]) {
    expect(stackOf(thrown)).toBeUndefined();
  }
});
