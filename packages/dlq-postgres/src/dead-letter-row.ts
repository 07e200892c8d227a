import { type DeadLetter, type DeadLetterHead, packEnvelope, unpackEnvelope } from "@bridge/ports";

export interface HeadRow {
  readonly head: string;
}

export interface EntryRow extends HeadRow {
  readonly envelope: string;
  readonly payload: Buffer;
}

/** The values of an entry, in the order of the table's columns. */
export function valuesOf({ envelope, ...head }: DeadLetter): readonly unknown[] {
  const { id, routeId, category, failedAt } = head;
  const { buffer, byteOffset, byteLength } = envelope.payload;
  // JSON spells out what the server's texts cannot hold, such as U+0000.
  const text = JSON.stringify(head satisfies DeadLetterHead);
  const payload = Buffer.from(buffer, byteOffset, byteLength);
  return [id, routeId, category, Math.floor(failedAt), text, packEnvelope(envelope), payload];
}

export function headOf({ head }: HeadRow): DeadLetterHead {
  return JSON.parse(head) as DeadLetterHead;
}

export function entryOf(row: EntryRow): DeadLetter {
  const { buffer, byteOffset, byteLength } = row.payload;
  return { ...headOf(row), envelope: unpackEnvelope(row.envelope, new Uint8Array(buffer, byteOffset, byteLength)) };
}

/** No text of the server holds it, so no id or route with it is there. */
export function isPossible(text: string): boolean {
  return !text.includes("\u0000");
}
