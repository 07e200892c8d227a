import type { FileDatabase } from "@bridge/file/internal";
import type { Steps } from "@bridge/ports/internal";
import type { DlqTables } from "./dlq-tables.ts";
import type { TrashStretch } from "./trash-statements.ts";

/** So many are counted at a time: others have their turn in between. */
const CHUNK = 2_000;

/** Counts what of the trash, or of a batch in it, is in time at `now`: up to `cap`. */
export function* countTrash(
  file: FileDatabase<DlqTables>,
  now: number,
  cap: number,
  batch: string | undefined,
): Steps<number> {
  file.read(({ trash }) => trash.demandTimes());
  let count = 0;
  const chunks = batch === undefined ? inTime(file, now) : stretches((after) => ofBatch(file, batch, now, after));
  for (const more of chunks) {
    count += more;
    if (count >= cap) return cap;
    yield;
  }
  return count;
}

/** By when they end; all that one purge has thrown away may end at one time. */
function* inTime(file: FileDatabase<DlqTables>, now: number): Generator<number, void> {
  for (let end: number | undefined = now; end !== undefined;) {
    const after: number = end;
    end = file.read(({ trash }) => trash.untilAt(after, CHUNK));
    const before = end ?? Infinity;
    yield file.read(({ trash }) => trash.countBetween(after, before));
    if (end !== undefined) yield* stretches((number) => file.read(({ trash }) => trash.countAt(before, number, CHUNK)));
  }
}

function ofBatch(file: FileDatabase<DlqTables>, batch: string, now: number, after: number): TrashStretch {
  return file.read(({ trash }) => trash.countBatch(batch, now, after, CHUNK));
}

function* stretches(read: (after: number) => TrashStretch): Generator<number, void> {
  for (let after: number | null = -Infinity; after !== null;) {
    const { count, last }: TrashStretch = read(after);
    yield count;
    after = last;
  }
}
