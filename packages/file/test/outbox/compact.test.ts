import { type Clock, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import type { FileDatabase } from "../../src/database/file-database.ts";
import { compact } from "../../src/outbox/compact.ts";
import { Lane } from "../../src/outbox/lane.ts";
import type { OutboxStatements } from "../../src/outbox/outbox-statements.ts";
import { recordValues, STATUSES } from "../../src/outbox/record-rows.ts";
import { WINDOW_LIMITS } from "../../src/outbox/window.ts";
import { openParts } from "./support/parts.ts";
import { outboxRecord } from "./support/records.ts";
import { scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const RECORDS = 1_300;
/** A file with records of which each was finished a millisecond after the one before it, the first one at 1. */
async function finished(path: string, clock?: Clock): Promise<FileDatabase<OutboxStatements>> {
  const { file: opened } = openParts(path, WINDOW_LIMITS, clock);
  const numbers = Array.from({ length: RECORDS }, (_, i) => i + 1);
  await opened.write({
    frees: false,
    bytes: 0,
    run(statements) {
      statements.addLane(new Lane(1, "route", "binding"));
      statements.addRecords(numbers.map((number) => recordValues(number, 1, outboxRecord(`r${number}`))));
      for (const number of numbers) statements.finish(number, number, STATUSES.indexOf("done"), number);
    },
  });
  return opened;
}

const left = (opened: FileDatabase<OutboxStatements>) => opened.read((statements) => statements.numbersFrom(1));

/** A clock by which each look takes `ms`, so that a slice of time holds few records or many. */
const ticking = (ms: number): Clock => {
  let now = 0;
  return { ...systemClock, monotonic: () => (now += ms) };
};

test.each([
  { ms: 0, upTo: RECORDS + 1 },
  { ms: 0, upTo: 700 },
  { ms: 0, upTo: 1 },
  { ms: 0.05, upTo: 700 },
])("one round forgets all that was finished before a time, with $ms ms for each: up to $upTo", async ({ ms, upTo }) => {
  using scratch = scratchFolder();
  await using opened = await finished(scratch.path, ticking(ms));
  await compact(opened, upTo, signal);
  expect(left(opened)).toEqual(Array.from({ length: RECORDS + 1 - upTo }, (_, i) => upTo + i));
});

test("a round that is given up forgets nothing more", async () => {
  using scratch = scratchFolder();
  await using opened = await finished(scratch.path);
  const reason = new Error("given up");
  await expect(compact(opened, RECORDS, AbortSignal.abort(reason))).rejects.toBe(reason);
  // Written after what the round would have written.
  await opened.write({ frees: true, bytes: 0, run: (statements) => statements.touch() });
  expect(left(opened)).toHaveLength(RECORDS);
});
