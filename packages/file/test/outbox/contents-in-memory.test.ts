import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { Lane } from "../../src/outbox/lane.ts";
import { Loans } from "../../src/outbox/loans.ts";
import type { OutboxParts } from "../../src/outbox/outbox-parts.ts";
import { persist } from "../../src/outbox/persist.ts";
import type { ReadingStatements } from "../../src/outbox/reading-statements.ts";
import { SpoiledRecords } from "../../src/outbox/spoiled-records.ts";
import { Window, WINDOW_LIMITS } from "../../src/outbox/window.ts";
import { openParts } from "./support/parts.ts";
import { outboxRecord } from "./support/records.ts";
import { scratchFolder } from "./support/scratch-outbox.ts";

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

test("what is persisted is kept in memory up to the share of its lane, also when the file had that lane before", async () => {
  using scratch = scratchFolder();
  const persisted = async (parts: OutboxParts, bindingId: string): Promise<number> => {
    const records = Array.from({ length: 20 }, (_, i) =>
      outboxRecord(`${bindingId}${i} of ${parts.lanes.size}`, { bindingId }, 3_000),
    );
    await persist(parts, records);
    const [lane] = parts.lanes.busy({ bindingId });
    const contents = Array.from({ length: 1_000 }, (_, i) => lane?.queue.get(i)?.content);
    return contents.filter((content) => content !== undefined).length;
  };
  {
    await using parts = openParts(scratch.path, { ...WINDOW_LIMITS, contentBytes: 48_000 });
    expect(await persisted(parts, "first")).toBe(12);
    expect(await persisted(parts, "second")).toBe(6);
    const ends = parts.lanes.busy().map((lane) => lane.number);
    await parts.file.write({
      frees: true,
      bytes: 0,
      run: (statements) => {
        for (const lane of ends)
          for (const number of statements.unfinished(lane, 1_000)) statements.finish(number, number, 1, 0);
      },
    });
  }
  await using parts = openParts(scratch.path, { ...WINDOW_LIMITS, contentBytes: 48_000 });
  expect(parts.lanes.busy()).toEqual([]);
  expect(await persisted(parts, "second")).toBe(6);
});
