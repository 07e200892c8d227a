import { noThinDisk } from "@bridge/tooling/faulty-disk";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { throughTroubles } from "../test/support/rude-store.ts";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

test.skipIf(noPostgres).for(SEEDS)("a rude database, seed %i", async (seed) => {
  const troubles = [
    "refuses",
    "hangs",
    "answers errors",
    "is a standby",
    "lets nobody insert",
    "has lost a table",
    "has lost its functions",
    "has no connection left",
    "cuts connections",
    "answers after 29 s",
  ] as const;
  expect(await throughTroubles({ store: "postgres", troubles, passing: ["cuts connections"], seed })).toEqual([]);
});

test.for(SEEDS)("a rude DynamoDB, seed %i", async (seed) => {
  const troubles = [
    "refuses",
    "hangs",
    "answers errors",
    "throttles writes",
    "lets nobody write",
    "has no such table",
    "loses answers",
  ] as const;
  expect(await throughTroubles({ store: "dynamodb", troubles, passing: ["loses answers"], seed })).toEqual([]);
});

describe.skipIf(noThinDisk)("a rude disk", () => {
  test.for(SEEDS)("seed %i", async (seed) => {
    const troubles = ["has a full disk", "fails in its sync", "may not be written to"] as const;
    expect(await throughTroubles({ store: "file", troubles, passing: ["fails in its sync"], seed })).toEqual([]);
  });
});
