import { DatabaseSync } from "node:sqlite";
import type { FileDatabase } from "@bridge/file/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countTrash } from "../src/count-trash.ts";
import { DLQ_FILE } from "../src/dlq-file-kind.ts";
import { DlqTables } from "../src/dlq-tables.ts";

/** So many of one batch that end at one time. */
interface Thrown {
  readonly batch: string;
  readonly until: number;
  readonly times: number;
}

/** A DLQ's tables with a trash, which tell how many rows each read has looked at. */
function trashWith(thrown: readonly Thrown[]) {
  const db = new DatabaseSync(":memory:");
  for (const migration of DLQ_FILE.migrations) if (migration !== "") db.exec(migration);
  const insert = db.prepare(`
    INSERT INTO dead_letter_trash SELECT null, ?, ?, ?, 0, '', '', '', '', '', 0, 0, null, '', '', x''`);
  let id = 0;
  db.exec("BEGIN");
  for (const { batch, until, times } of thrown)
    for (let nth = 0; nth < times; nth++) insert.run(batch, until, `e${id++}`);
  db.exec("COMMIT");
  const tables = new DlqTables(db);
  let reads = 0;
  const file = {
    read: <T>(read: (of: DlqTables) => T) => (reads++, read(tables)),
  } as unknown as FileDatabase<DlqTables>;
  return { file, reads: () => reads };
}

test("what is in the trash is counted as it is, in pieces, however many end at one time", () => {
  const one = fc.record({
    batch: fc.constantFrom("a", "b"),
    until: fc.integer({ min: 1, max: 6 }),
    times: fc.constantFrom(1, 3, 1_999, 2_000, 2_001, 4_500),
  });
  fc.assert(
    fc.property(
      fc.array(one, { maxLength: 5 }),
      fc.integer({ min: 0, max: 7 }),
      fc.constantFrom(1, 2_000, 5_000, Infinity),
      fc.constantFrom("a", undefined),
      (thrown, now, cap, batch) => {
        const { file, reads } = trashWith(thrown);
        const counted = countTrash(file, now, cap, batch);
        let pieces = 0;
        let step = counted.next();
        for (; step.done !== true; step = counted.next()) pieces++;
        const those = thrown.filter((each) => each.until > now && (batch === undefined || each.batch === batch));
        const all = those.reduce((sum, { times }) => sum + times, 0);
        expect(step.value).toBe(Math.min(cap, all));
        expect(reads()).toBeLessThanOrEqual(2 * (pieces + 2));
        if (cap === Infinity) expect(pieces).toBeGreaterThanOrEqual(Math.floor(all / 2_000));
      },
    ),
    { numRuns: 60 },
  );
});
