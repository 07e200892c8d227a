import { expect, test } from "vitest";
import { digest } from "../src/log-digest.ts";

const line = (level: string, msg: string, second: number, fields: object = {}): string =>
  JSON.stringify({ level, time: new Date(second * 1_000).toISOString(), msg, ...fields });

test("lines are counted by level and by what they say, and by what was being done when they were written", async () => {
  const lines = [
    line("info", "up", 10),
    line("warn", "link down", 100),
    line("warn", "link down", 103),
    line("info", "up", 107),
    line("info", "up", 200),
    line("info", "up", 201),
  ];
  const happenings = [
    { at: 100_000, until: 104_000, what: "broker.pause" },
    { at: 200_500, until: 200_600, what: "broker.pause" },
    { at: 300_000, until: 301_000, what: "reload" },
  ];
  const { lines: count, levels, sentences, happenings: per } = await digest(lines, happenings);
  expect(count).toBe(6);
  expect(levels).toEqual({ info: 4, warn: 2 });
  expect(sentences).toEqual([
    { level: "info", message: "up", lines: 4 },
    { level: "warn", message: "link down", lines: 2 },
  ]);
  expect(per).toEqual([
    { what: "broker.pause", times: 2, lines: 5 },
    { what: "reload", times: 1, lines: 0 },
  ]);
});

test("a line with a stack counts as one, in JSON or not; so does a line that is no JSON", async () => {
  const { stack } = new TypeError("x is not a function");
  const { withStack, stacks } = await digest(
    [
      line("error", "failed", 1, { error: stack }),
      line("error", "failed", 1, { error: "at 10:11:12 the broker said no" }),
      "(node:7) MaxListenersExceededWarning",
      "    at read (file:///bridge/main.js:10:11)",
    ],
    [],
  );
  expect(withStack).toBe(3);
  expect(stacks[0]).toContain("x is not a function");
});
