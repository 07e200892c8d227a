import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { Lane } from "../../src/outbox/lane.ts";
import { Loans } from "../../src/outbox/loans.ts";
import type { ReadingStatements } from "../../src/outbox/reading-statements.ts";
import { SpoiledRecords } from "../../src/outbox/spoiled-records.ts";
import { Window, WINDOW_LIMITS } from "../../src/outbox/window.ts";
import { outboxRecord } from "./support/records.ts";

test.each([1, 2, 4])(
  "contents are kept in memory up to the share of one of %s lanes, and leave it when they are lent",
  (lanes) => {
    const loans = new Loans(systemClock, systemRandom());
    const spoiled = new SpoiledRecords(systemClock, silentLogger);
    const limits = { ...WINDOW_LIMITS, contentBytes: 48_000 };
    const window = new Window(loans, spoiled, limits, systemClock);
    const lane = new Lane(1, "route", "binding");
    for (let number = 1; number <= 100; number++)
      window.arrived(lane, number, outboxRecord(`r${number}`, {}, 3_000), lanes);
    const entries = Array.from({ length: 100 }, (_, index) => lane.queue.get(index + 1)!);
    // Each takes its payload and 1,000 bytes.
    const kept = 12 / lanes;
    expect(entries.map(({ content }) => content !== undefined)).toEqual(entries.map((_, index) => index < kept));
    const nothing = { stored: () => undefined } as unknown as ReadingStatements;
    const read = entries.map((entry) => window.contentOf(lane, entry, nothing)?.id);
    expect(read.filter((id) => id !== undefined)).toEqual(entries.slice(0, kept).map(({ id }) => id));
    expect(lane.contentBytes).toBe(0);
  },
);
