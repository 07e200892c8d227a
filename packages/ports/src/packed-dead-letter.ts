import { hash } from "node:crypto";
import type { DeadLetter, DeadLetterHead } from "./dlq-store.ts";
import { BridgeError } from "./errors.ts";
import { packEnvelope, unpackEnvelope } from "./packed-envelope.ts";

/** A dead letter without its payload, as stores keep it. */
export interface PackedDeadLetter {
  /** JSON of everything but the envelope, with a SHA-256 of all of it. */
  readonly head: string;
  readonly envelope: string;
}

type PackedHead = DeadLetterHead & { readonly digest: string };

export function packDeadLetter({ envelope, ...head }: DeadLetter): PackedDeadLetter {
  const packed = packEnvelope(envelope);
  return {
    head: JSON.stringify({ ...head, digest: digestOf(head, packed, envelope.payload) } satisfies PackedHead),
    envelope: packed,
  };
}

/** What a list shows. It says nothing of the digest, which is of the payload too. */
export function unpackDeadLetterHead(text: string): DeadLetterHead {
  const { digest: _, ...head } = JSON.parse(text) as PackedHead;
  return head;
}

/** What a list shows of an entry whose columns are `known`: nothing more when it cannot be read, so that a page shows the others. */
export function headOrKnown(
  known: Pick<DeadLetterHead, "id" | "routeId" | "category" | "failedAt">,
  text: string,
): DeadLetterHead {
  try {
    return { ...unpackDeadLetterHead(text), ...known };
  } catch {
    const reason = "this entry is not as it was written: it cannot be delivered";
    const unknown = { bindingId: "", sourceId: "", correlationId: "", subject: "", lastError: "", attempts: 0 };
    return { ...known, reason, errorCode: "INTERNAL", ...unknown };
  }
}

/**
 * The entry under `id`.
 *
 * @throws BridgeError `INTERNAL` when it is not the one that was packed: a disk has changed it
 */
export function unpackDeadLetter(
  id: string,
  { head: text, envelope }: PackedDeadLetter,
  payload: Uint8Array,
): DeadLetter {
  try {
    const { digest, ...head } = JSON.parse(text) as PackedHead;
    const isSame = head.id === id && digest === digestOf(head, envelope, payload);
    if (isSame) return { ...head, envelope: unpackEnvelope(envelope, payload) };
  } catch {
    // It cannot even be read.
  }
  throw new BridgeError("INTERNAL", `dead letter ${id} is not as it was written: it is kept, and never delivered`);
}

function digestOf(head: DeadLetterHead, envelope: string, payload: Uint8Array): string {
  return hash("sha256", JSON.stringify([head, envelope, hash("sha256", payload)]));
}
