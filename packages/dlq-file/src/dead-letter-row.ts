import { type DeadLetter, type DeadLetterHead, type ErrorClass, packEnvelope, unpackEnvelope } from "@bridge/ports";

/** What a list reads. */
export interface HeadRow {
  readonly id: string;
  readonly failed_at: number;
  readonly route_id: string;
  readonly category: ErrorClass;
  /** JSON of the rest of the entry, without the envelope. */
  readonly head: string;
}

export interface EntryRow extends HeadRow {
  readonly envelope: string;
  readonly payload: Uint8Array;
}

export type RowValues = [string, number, string, string, string, string, Uint8Array];

type Rest = Omit<DeadLetterHead, "id" | "failedAt" | "routeId" | "category">;

/** In the order of the columns. */
export function rowValues({ id, failedAt, routeId, category, envelope, ...rest }: DeadLetter): RowValues {
  const head = JSON.stringify(rest satisfies Rest);
  return [id, failedAt, routeId, category, head, packEnvelope(envelope), envelope.payload];
}

export function headOf(row: HeadRow): DeadLetterHead {
  const rest = JSON.parse(row.head) as Rest;
  return { id: row.id, routeId: row.route_id, category: row.category, failedAt: row.failed_at, ...rest };
}

export function entryOf(row: EntryRow): DeadLetter {
  return { ...headOf(row), envelope: unpackEnvelope(row.envelope, row.payload) };
}
