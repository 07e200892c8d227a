import type { OutboxRecord } from "@bridge/ports";

/**
 * What is known in memory of an unfinished record: where it stands in the queue of its lane.
 *
 * - `ready`: may be lent.
 * - `waiting`: may be lent from `dueAt` on.
 * - `behind`: an older unfinished record has the same ordering key.
 * - `lent`: somebody has it, or its end is being written.
 */
export interface Entry {
  /** In the order in which records were persisted. */
  readonly number: number;
  readonly id: string;
  readonly key: string | undefined;
  attempts: number;
  /** Monotonic milliseconds. */
  dueAt: number;
  place: "ready" | "waiting" | "behind" | "lent";
  /** The record itself, while it is kept in memory. */
  content: OutboxRecord | undefined;
  /** The unfinished neighbours of its key. */
  older: Entry | undefined;
  younger: Entry | undefined;
}

export function entryOf(fields: Pick<Entry, "number" | "id" | "key" | "attempts" | "dueAt">): Entry {
  return { ...fields, place: "behind", content: undefined, older: undefined, younger: undefined };
}
