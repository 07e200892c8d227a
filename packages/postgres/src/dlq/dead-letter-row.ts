import type { DeadLetter, DeadLetterHead } from "@bridge/ports";
import { headOrKnown, packDeadLetter, unpackDeadLetter } from "@bridge/ports/internal";

export interface HeadRow {
  readonly id: string;
  readonly route_id: string;
  readonly category: DeadLetterHead["category"];
  readonly failed_at: number;
  readonly head: string;
}

export interface EntryRow extends Pick<HeadRow, "head"> {
  readonly envelope: string;
  readonly payload: Buffer;
}

/** The values of an entry, in the order of the table's columns. */
export function valuesOf(entry: DeadLetter): readonly unknown[] {
  const { id, routeId, category, failedAt } = entry;
  const { buffer, byteOffset, byteLength } = entry.envelope.payload;
  // JSON spells out what the server's texts cannot hold, such as U+0000.
  const { head, envelope } = packDeadLetter(entry);
  const payload = Buffer.from(buffer, byteOffset, byteLength);
  return [id, routeId, category, Math.floor(failedAt), head, envelope, payload];
}

export function headOf({ id, route_id: routeId, category, failed_at, head }: HeadRow): DeadLetterHead {
  return headOrKnown({ id, routeId, category, failedAt: failed_at }, head);
}

/** @throws BridgeError when it is not the entry that was written */
export function entryOf(id: string, row: EntryRow): DeadLetter {
  const { buffer, byteOffset, byteLength } = row.payload;
  return unpackDeadLetter(id, row, new Uint8Array(buffer, byteOffset, byteLength));
}

/** No text of the server holds it, so no id or route with it is there. */
export function isPossible(text: string): boolean {
  return !text.includes("\u0000");
}
