import { noSmallDisk } from "@bridge/tooling/faulty-disk";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { type Cell, EVENTS, throughOutage } from "../test/support/store-events.ts";
import type { ServiceTrouble } from "../test/support/away-store.ts";

const TROUBLES: readonly ServiceTrouble[] = ["refuses", "hangs", "answers errors"];

const every = [0, 5_000].flatMap((awayMs) =>
  EVENTS.flatMap((event) => TROUBLES.map((trouble): Cell => ({ event, trouble, awayMs }))),
);
/** Longer than any bound of a call. */
const minute = (["start", "reload of its route"] as const).flatMap((event) =>
  TROUBLES.map((trouble): Cell => ({ event, trouble, awayMs: 60_000 })),
);
describe.skipIf(noPostgres)("an outbox on PostgreSQL that is away", () => {
  test.each([...every, ...minute])("$event while it $trouble, for $awayMs ms", async (cell) => {
    expect(await throughOutage(cell)).toEqual([]);
  });
});

describe("an outbox on DynamoDB that is away", () => {
  test.each([...every, ...minute])("$event while it $trouble, for $awayMs ms", async (cell) => {
    expect(await throughOutage({ ...cell, store: "dynamodb" })).toEqual([]);
  });
});

const files = EVENTS.flatMap(
  (event) =>
    (["has a full disk", "is moved away"] as const).flatMap((trouble) =>
      [0, 5_000, ...(event === "start" || event === "commit" ? [60_000] : [])].map((awayMs): Cell => ({
        store: "file",
        event,
        trouble,
        awayMs,
      })),
    ),
  // Who starts without a file begins one.
).filter(({ event, trouble }) => event !== "start" || trouble !== "is moved away");

describe.skipIf(noSmallDisk)("an outbox in a file", () => {
  test.each(files)("$event while it $trouble, for $awayMs ms", async (cell) => {
    expect(await throughOutage(cell)).toEqual([]);
  });
});
