import { type Clock, type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { expect, it } from "vitest";
import { CutLines } from "../src/cut-lines.ts";

const MINUTE = 60_000;

function lines() {
  const told: (LogFields | undefined)[] = [];
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  const logger = { ...silentLogger, warn: (_message: string, fields?: LogFields) => void told.push(fields) };
  return { told, pass: (ms: number) => (now += ms), cut: new CutLines(logger, clock) };
}

it("answers that are cut are told once a minute, with how many there were, and the path of the last", () => {
  const { told, pass, cut } = lines();
  cut.tell("/first?key=secret#part");
  for (let i = 0; i < 5; i++) cut.tell("/others");
  pass(MINUTE - 1);
  cut.tell("/late");
  expect(told).toEqual([{ path: "/first", cut: 1 }]);
  pass(1);
  cut.tell();
  expect(told.slice(1)).toEqual([{ path: "", cut: 7 }]);
  pass(MINUTE);
  cut.tell(`/${"x".repeat(1_000)}`);
  expect(told[2]).toEqual({ path: `/${"x".repeat(255)}`, cut: 1 });
});
