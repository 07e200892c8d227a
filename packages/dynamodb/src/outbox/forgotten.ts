import type { OutboxParts } from "./outbox-parts.ts";
import type { StoredRecord } from "./record-item.ts";

/** Whether a record was finished so long ago that it is no evidence any more, though the service still has it. */
export function isForgotten({ clock, retentionMs }: OutboxParts, { finishedAt }: StoredRecord): boolean {
  return finishedAt !== undefined && clock.now() >= finishedAt + retentionMs;
}
