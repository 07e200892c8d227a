import { hash } from "node:crypto";
import { deadLetterHead } from "./dead-letter-head.ts";
import type { DeadLetterMarks } from "./dead-letter-marks.ts";
import type { DeadLetter, DeadLetterHead } from "./dlq-store.ts";
import { BridgeError } from "./errors.ts";
import { quotedId } from "./fingerprint.ts";
import type { LogFields } from "./seams.ts";
import { envelopeIdIn, packEnvelope, unpackEnvelope } from "./packed-envelope.ts";

/** A dead letter without its payload, as stores keep it. */
export interface PackedDeadLetter {
  /** JSON of everything but the envelope, with a SHA-256 of all of it. */
  readonly head: string;
  readonly envelope: string;
}

type PackedHead = DeadLetterHead & { readonly digest: string };

/** Marks are not in it: they change, and the entry does not. */
export function packDeadLetter(entry: DeadLetter, listed = deadLetterHead(entry)): PackedDeadLetter {
  const { envelope } = entry;
  const { marks: _, ...head } = listed;
  const packed = packEnvelope(envelope);
  return {
    head: JSON.stringify({ ...head, digest: digestOf(head, packed, envelope.payload) } satisfies PackedHead),
    envelope: packed,
  };
}

/** What a list shows. It says nothing of the digest, which is of the payload too. */
function unpackDeadLetterHead(text: string): DeadLetterHead {
  const { digest: _, ...head } = JSON.parse(text) as PackedHead;
  return head;
}

/** What a store finds an entry by: its id, and some of the rest. */
type KnownHead = Pick<DeadLetterHead, "id" | "category" | "failedAt"> &
  Partial<Pick<DeadLetterHead, "routeId" | "bindingId" | "errorCode" | "fingerprint">>;

/**
 * What a list shows of an entry whose columns are `known`: nothing more when it cannot be read, so that a page shows the others.
 * What the columns say goes before what can be read: an entry is looked for, counted and put in order by them, and one of which
 * somebody has changed either is found where it is told to be.
 */
export function headOrKnown(known: KnownHead, text: string, marks?: DeadLetterMarks): DeadLetterHead {
  const added = marks === undefined ? {} : { marks };
  try {
    const head = unpackDeadLetterHead(text);
    if (isHead(head)) return { ...head, ...known, ...added };
  } catch {
    // Nothing but the columns is known.
  }
  const reason = "this entry is not as it was written: it cannot be delivered";
  const unknown = { sourceId: "", correlationId: "", subject: "", lastError: "", attempts: 0 };
  const facts = { envelopeId: "", payloadBytes: 0, fingerprint: "" };
  return { routeId: "", bindingId: "", errorCode: "INTERNAL", ...unknown, ...facts, ...known, reason, ...added };
}

/** What of an entry can be read tells, for logs, whose it was. */
export function legibleIn({ head: text, envelope }: PackedDeadLetter): LogFields {
  const envelopeId = envelopeIdIn(envelope);
  try {
    const head: unknown = unpackDeadLetterHead(text);
    const { routeId, bindingId } = head as Readonly<Record<string, unknown>>;
    return { route_id: textIn(routeId), binding_id: textIn(bindingId), envelope_id: envelopeId };
  } catch {
    return { envelope_id: envelopeId };
  }
}

/** The id that a packed head says; `undefined` when it cannot be read. A store may find the entry by another one, as somebody has changed it. */
export function idIn(head: string): string | undefined {
  try {
    return textIn(unpackDeadLetterHead(head).id);
  } catch {
    return undefined;
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Whether it has all that a list shows. */
function isHead(head: DeadLetterHead): boolean {
  const { routeId, bindingId, sourceId, correlationId, subject, failedAt, attempts } = head;
  const { reason, category, errorCode, lastError, envelopeId, payloadBytes, fingerprint } = head;
  const texts: unknown[] = [
    routeId,
    bindingId,
    sourceId,
    correlationId,
    subject,
    reason,
    category,
    errorCode,
    lastError,
    envelopeId,
    fingerprint,
  ];
  return texts.every((text) => typeof text === "string") && [failedAt, attempts, payloadBytes].every(Number.isFinite);
}

/**
 * The entry under `id`.
 *
 * @throws SpoiledDeadLetter when it is not the one that was packed: a disk, or somebody, has changed it
 */
export function unpackDeadLetter(
  id: string,
  { head: text, envelope }: PackedDeadLetter,
  payload: Uint8Array,
  marks?: DeadLetterMarks,
): DeadLetter {
  try {
    const { digest, ...head } = JSON.parse(text) as PackedHead;
    const isSame = head.id === id && digest === digestOf(head, envelope, payload);
    if (isSame) {
      const { envelopeId: _, payloadBytes: __, fingerprint: ___, ...entry } = head;
      return { ...entry, ...(marks !== undefined && { marks }), envelope: unpackEnvelope(envelope, payload) };
    }
  } catch {
    // It cannot even be read.
  }
  throw new SpoiledDeadLetter(id);
}

function digestOf(head: DeadLetterHead, envelope: string, payload: Uint8Array): string {
  return hash("sha256", JSON.stringify([head, envelope, hash("sha256", payload)]));
}

/** One dead letter is not what was written; of the store, and of others, that says nothing. */
export class SpoiledDeadLetter extends BridgeError {
  readonly spoiled = true;

  constructor(
    id: string,
    why = "is not as it was written: it is kept, and never delivered; delete it when it was looked at",
  ) {
    super("INTERNAL", `dead letter ${quotedId(id)} ${why}`);
  }
}

export function isSpoiled(error: unknown): error is SpoiledDeadLetter {
  return BridgeError.is(error) && "spoiled" in error && error.spoiled === true;
}
