import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { type Cell, EVENTS, throughOutage } from "../test/support/store-events.ts";
import type { Trouble } from "../test/support/away-store.ts";

const TROUBLES: readonly Trouble[] = ["refuses", "hangs", "answers errors"];

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
