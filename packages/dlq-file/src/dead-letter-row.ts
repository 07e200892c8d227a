import {
  type DeadLetter,
  deadLetterHead,
  type DeadLetterHead,
  type DeadLetterMarks,
  type DeadLetterPosition,
} from "@bridge/ports";
import { headOrKnown, packDeadLetter, unpackDeadLetter } from "@bridge/ports/internal";
import { type CountedChange, type CountedRow, lineOf } from "./entry-counts.ts";
import { isKeptBack } from "./kept-back.ts";
import { lookupKey } from "./lookup-key.ts";
import { sealed, unsealed } from "./sealed.ts";

/** What a list reads. */
export interface HeadRow extends CountedRow {
  /** Sealed JSON; `null`: none. */
  readonly marks: string | null;
  /** JSON of the entry, without the envelope and the marks. */
  readonly head: string;
}

export type MarksRow = Pick<HeadRow, "id" | "marks">;

/** An entry whose marks have been changed. */
export interface Remarked extends CountedChange {
  readonly id: string;
}

export interface EntryRow extends HeadRow {
  readonly envelope: string;
  /** `null`: there are no bytes in its place. */
  readonly payload: Uint8Array | null;
}

export interface NewRow {
  readonly counted: CountedRow;
  readonly envelopeKey: number;
  readonly correlationKey: number;
  readonly head: string;
  readonly envelope: string;
  readonly payload: Uint8Array;
}

export function newRow(entry: DeadLetter): NewRow {
  const listed = deadLetterHead(entry);
  return {
    counted: {
      id: entry.id,
      failed_at: entry.failedAt,
      route_id: entry.routeId,
      binding_id: entry.bindingId,
      category: entry.category,
      error_code: entry.errorCode,
      fingerprint: listed.fingerprint,
      quarantined: 0,
    },
    envelopeKey: lookupKey(entry.envelope.id),
    correlationKey: lookupKey(entry.correlationId),
    ...packDeadLetter(entry, listed),
    payload: entry.envelope.payload,
  };
}

export function headOf(row: HeadRow): DeadLetterHead {
  const { id, failed_at: failedAt } = row;
  const known = { id, failedAt, ...lineOf(row) };
  const marks = marksOf(row);
  // An entry whose marks have changed may have been kept back: it is shown as one that cannot be delivered.
  return marks === SPOILED
    ? headOrKnown(known, "", isKeptBack(row.marks) ? { quarantined: true } : undefined)
    : headOrKnown(known, row.head, marks);
}

/** Where it stands in the order, whatever its head says. */
export function positionOf({ id, failed_at: failedAt }: Pick<HeadRow, "id" | "failed_at">): DeadLetterPosition {
  return { failedAt, id };
}

/** @throws BridgeError when it is not the entry that was written */
export function entryOf(id: string, row: EntryRow): DeadLetter {
  const marks = marksOf(row);
  const { payload } = row;
  return marks === SPOILED || payload === null
    ? unpackDeadLetter(id, { ...row, head: "" }, NOTHING)
    : unpackDeadLetter(id, row, payload, marks);
}

const NOTHING = new Uint8Array();
const SPOILED = Symbol("not as they were written");

function marksOf({ id, marks }: MarksRow): DeadLetterMarks | typeof SPOILED | undefined {
  if (marks === null) return undefined;
  const text = unsealed(id, marks);
  return text === undefined ? SPOILED : (JSON.parse(text) as DeadLetterMarks);
}

/** To add to; of marks that cannot be read nothing is left but that the entry is kept back. */
export function marksToChange(row: MarksRow): DeadLetterMarks | undefined {
  const marks = marksOf(row);
  return marks === SPOILED ? { quarantined: true } : marks;
}

export function marksText(id: string, marks: DeadLetterMarks | undefined): string | null {
  return marks === undefined ? null : sealed(id, JSON.stringify(marks));
}
