import { noThinDisk } from "@bridge/tooling/faulty-disk";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, test } from "vitest";
import { type Cell, throughOutage } from "./support/store-events.ts";

const CELLS: readonly (readonly [finding: string, cell: Cell])[] = [
  ["2.2", { event: "start", trouble: "refuses" }],
  ["2.3", { event: "reload of its route", trouble: "hangs" }],
  ["2.4", { event: "reload of another route", trouble: "hangs" }],
  ["2.1", { event: "commit that is undone", trouble: "hangs" }],
  ["2.3", { event: "shutdown", trouble: "hangs" }],
];

/** A slice of what the long tests do with all of it. */
describe.skipIf(noPostgres).concurrent("a bridge whose outbox is away", { timeout: 120_000 }, () => {
  test.for(CELLS)("finding %s: %j", async ([, cell], { expect }) => {
    expect(await throughOutage(cell)).toEqual([]);
  });
});

describe.concurrent("a bridge whose outbox on DynamoDB is away", { timeout: 120_000 }, () => {
  const cells: readonly Cell[] = [
    { store: "dynamodb", event: "start", trouble: "answers errors" },
    { store: "dynamodb", event: "reload of another route", trouble: "refuses" },
  ];
  test.for(cells)("finding 2: %j", async (cell, { expect }) => {
    expect(await throughOutage(cell)).toEqual([]);
  });
});

const FILE_CELLS: readonly Cell[] = [
  { store: "file", event: "start", trouble: "has a full disk" },
  { store: "file", event: "reload of its route", trouble: "has a full disk" },
  { store: "file", event: "stop", trouble: "is moved away" },
  { store: "file", event: "reload of its route", trouble: "fails in its sync" },
];

describe
  .skipIf(noThinDisk)
  .concurrent("a bridge whose outbox is a file without room, or gone", { timeout: 120_000 }, () => {
    test.for(FILE_CELLS)("%j", async (cell, { expect }) => {
      expect(await throughOutage(cell)).toEqual([]);
    });
  });
