import { type LogFields, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import { countersOf } from "../../src/runtime/counters-of.ts";

test("a part has the counters that are numbers, and one that does not count has none", () => {
  const counters = () => ({ sent: 3, refused: 0, state: "up" as never });
  expect(countersOf({ counters }, "sender out", silentLogger)).toEqual({ sent: 3, refused: 0 });
  const told: string[] = [];
  const logger = { ...silentLogger, error: (line: string) => void told.push(line) };
  expect([countersOf({}, "sender out", logger), told]).toEqual([{}, []]);
});

test("counters that cannot be read are none; each part is told of once, until the end", () => {
  const told: (LogFields | undefined)[] = [];
  const logger = { ...silentLogger, error: (_: string, fields?: LogFields) => void told.push(fields) };
  const broken = (): { counters(): never } => ({
    counters() {
      throw new Error("not to be read");
    },
  });
  const parts = [broken(), broken()];
  for (let scrape = 0; scrape < 3; scrape++)
    for (const [index, part] of parts.entries()) expect(countersOf(part, `part ${index}`, logger)).toEqual({});
  expect(told).toMatchObject([0, 1].map((index) => ({ part: `part ${index}`, error: "not to be read" })));
});
