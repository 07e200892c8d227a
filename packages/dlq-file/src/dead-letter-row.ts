import { type DeadLetter, type DeadLetterHead, type ErrorClass } from "@bridge/ports";
import { packDeadLetter, unpackDeadLetter, unpackDeadLetterHead } from "@bridge/ports/internal";

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

/** Of an entry that cannot be read there is only what its columns say, so that a page shows the others. */
export function headOf({ id, route_id: routeId, category, failed_at: failedAt, head }: HeadRow): DeadLetterHead {
  try {
    return { ...unpackDeadLetterHead(head), id, routeId, category, failedAt };
  } catch {
    const reason = "this entry is not as it was written: it cannot be delivered";
    const unknown = { bindingId: "", sourceId: "", correlationId: "", subject: "", lastError: "", attempts: 0 };
    return { id, routeId, category, failedAt, reason, errorCode: "INTERNAL", ...unknown };
  }
}

/** @throws BridgeError when it is not the entry that was written */
export function entryOf(id: string, row: EntryRow): DeadLetter {
  return unpackDeadLetter(id, row, row.payload);
}
