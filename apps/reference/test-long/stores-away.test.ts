import { noThinDisk } from "@bridge/tooling/faulty-disk";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { type Cell, EVENTS, throughOutage } from "../test/support/store-events.ts";
import type { FileTrouble, ServiceTrouble } from "../test/support/away-store.ts";

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

const FILE_TROUBLES: readonly FileTrouble[] = [
  "has a full disk",
  "is moved away",
  "fails in its sync",
  "may not be written to",
];
const files = EVENTS.flatMap(
  (event) =>
    FILE_TROUBLES.flatMap((trouble) =>
      [0, 5_000, 60_000].map((awayMs): Cell => ({
        store: "file",
        event,
        trouble,
        awayMs,
      })),
    ),
  // Who starts without a file begins one, and who may not write to it is told to see to that.
).filter(({ event, trouble }) => event !== "start" || !["is moved away", "may not be written to"].includes(trouble));

describe.skipIf(noThinDisk)("an outbox in a file", () => {
  test.each(files)("$event while it $trouble, for $awayMs ms", async (cell) => {
    expect(await throughOutage(cell)).toEqual([]);
  });
});
