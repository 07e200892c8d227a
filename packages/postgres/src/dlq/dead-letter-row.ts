import { hash } from "node:crypto";
import type { DeadLetter, DeadLetterHead, DeadLetterQuery } from "@bridge/ports";
import { deadLetterHead } from "@bridge/ports";
import { headOrKnown, packDeadLetter, unpackDeadLetter } from "@bridge/ports/internal";
import { marksOf } from "./kept-back.ts";

/** What is read of a row for a list. */
export const HEAD_COLUMNS = "id, route_id, binding_id, category, error_code, failed_at, fingerprint, head, marks";
const KEY_BYTES = 16;

export interface HeadRow {
  readonly id: string;
  readonly route_id: string;
  readonly binding_id: string;
  readonly category: DeadLetterHead["category"];
  readonly error_code: DeadLetterHead["errorCode"];
  readonly failed_at: number;
  readonly fingerprint: string;
  readonly head: string;
  readonly marks: string | null;
}

export interface EntryRow extends Pick<HeadRow, "head" | "marks"> {
  readonly envelope: string;
  readonly payload: Buffer;
}

/** The values of an entry without marks, in the order of the table's columns. */
export function valuesOf(entry: DeadLetter): readonly unknown[] {
  const { id, routeId, bindingId, category, errorCode, failedAt, correlationId } = entry;
  const { buffer, byteOffset, byteLength } = entry.envelope.payload;
  const { fingerprint, envelopeId } = deadLetterHead(entry);
  // JSON spells out what the server's texts cannot hold, such as U+0000.
  const { head, envelope } = packDeadLetter(entry);
  const payload = Buffer.from(buffer, byteOffset, byteLength);
  const about = [id, routeId, bindingId, category, errorCode, Math.floor(failedAt), fingerprint];
  return [...about, keyOf(envelopeId), keyOf(correlationId), head, envelope, payload, null];
}

/** What stands in an index for a text of somebody else, which may be longer than an index takes, or hold what no text of the server does. */
export function keyOf(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, KEY_BYTES);
}

export function headOf(row: HeadRow): DeadLetterHead {
  const { id, route_id: routeId, binding_id: bindingId, category, error_code: errorCode, fingerprint } = row;
  const known = { id, routeId, bindingId, category, errorCode, failedAt: row.failed_at, fingerprint };
  return headOrKnown(known, row.head, marksOf(row.marks));
}

/** @throws BridgeError when it is not the entry that was written */
export function entryOf(id: string, row: EntryRow): DeadLetter {
  const { buffer, byteOffset, byteLength } = row.payload;
  return unpackDeadLetter(id, row, new Uint8Array(buffer, byteOffset, byteLength), marksOf(row.marks));
}

/** No text of the server holds it, so no id or route with it is there. */
export function isPossible(text: string): boolean {
  return !text.includes("\u0000");
}

/** Whether there can be entries that it means. */
export function isPossibleQuery({ routeId = "", bindingId = "", fingerprint = "" }: DeadLetterQuery): boolean {
  return [routeId, bindingId, fingerprint].every(isPossible);
}
