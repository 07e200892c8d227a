import { type FileDatabase } from "../database/file-database.ts";
import { orAborted } from "@bridge/ports/internal";
import type { OutboxStatements } from "./outbox-statements.ts";

const SLICE_RECORDS = 500;
const SLICE_BYTES = 256 * 1024;

/** Forgets records that were finished before `time`, some at a time. */
export async function compact(file: FileDatabase<OutboxStatements>, time: number, signal: AbortSignal): Promise<void> {
  for (let forgotten: number | undefined; forgotten !== 0;) {
    signal.throwIfAborted();
    const slice = file.write({
      frees: true,
      bytes: SLICE_BYTES,
      run(statements) {
        const finished = statements.finishedBefore(time, SLICE_RECORDS);
        return file.slices.untilOver(finished, (number) => statements.deleteRecord(number));
      },
    });
    forgotten = await orAborted(slice, signal);
  }
}
