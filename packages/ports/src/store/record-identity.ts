import type { OutboxRecord } from "../outbox-store.ts";

/** What a record is unique by in its route and binding, in one text: one that is given is never the id of an envelope. */
export function recordIdentity({ identity, envelope }: Pick<OutboxRecord, "identity" | "envelope">): string {
  return identity === undefined ? `=${envelope.id}` : `~${identity}`;
}
