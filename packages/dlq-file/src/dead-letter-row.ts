import { type DeadLetter, type DeadLetterHead, type ErrorClass } from "@bridge/ports";
import { headOrKnown, packDeadLetter, unpackDeadLetter } from "@bridge/ports/internal";

/** What a list reads. */
export interface HeadRow {
  readonly id: string;
  readonly failed_at: number;
  readonly route_id: string;
  readonly category: ErrorClass;
  /** JSON of the entry, without the envelope. */
  readonly head: string;
}

export interface EntryRow extends HeadRow {
  readonly envelope: string;
  readonly payload: Uint8Array;
}

export type RowValues = [string, number, string, string, string, string, Uint8Array];

/** In the order of the columns. */
export function rowValues(entry: DeadLetter): RowValues {
  const { id, failedAt, routeId, category } = entry;
  const { head, envelope } = packDeadLetter(entry);
  return [id, failedAt, routeId, category, head, envelope, entry.envelope.payload];
}

export function headOf({ id, route_id: routeId, category, failed_at: failedAt, head }: HeadRow): DeadLetterHead {
  return headOrKnown({ id, routeId, category, failedAt }, head);
}

/** @throws BridgeError when it is not the entry that was written */
export function entryOf(id: string, row: EntryRow): DeadLetter {
  return unpackDeadLetter(id, row, row.payload);
}
