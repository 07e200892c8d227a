import type { DeadLetter, DlqStore } from "@bridge/ports";
import { type FailedReplay, markFailed, withoutJob } from "./failed-replay.ts";

/** Logged of a replay whose dead letter is gone. */
export const NOTHING_WRITTEN = "redrive failed: the dead letter was deleted meanwhile, and nothing is written";

/** Calls the store, which has to answer in time. */
export type AskDlq = <Said>(call: (store: DlqStore, bound: AbortSignal) => Promise<Said>) => Promise<Said>;

/**
 * The entry that was written, or `"marked"`: it is there already, because a job or the redrive of one entry has replayed it. `"gone"`: it
 * was replayed and is there no more, because somebody has deleted it, or has delivered its message; then nothing is written.
 */
export type Kept = DeadLetter | "marked" | "gone";

/** Keeps what was given up, durably. */
export async function keep(entry: DeadLetter, replay: FailedReplay | undefined, ask: AskDlq): Promise<Kept> {
  const marked = replay && (await mark(entry, replay, ask));
  if (marked !== undefined) return marked ? "marked" : "gone";
  const written = replay === undefined ? entry : withoutJob(entry);
  await ask((store, bound) => store.put(written, bound));
  return written;
}

/** Whether the original is there, and marked; `undefined`: the store keeps no marks, and does not say. */
export function mark(entry: DeadLetter, replay: FailedReplay, ask: AskDlq): Promise<boolean | undefined> {
  return ask(async ({ marks }, bound) => marks && markFailed(marks, replay, entry, bound));
}
