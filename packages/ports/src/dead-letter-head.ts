import type { DeadLetter, DeadLetterHead } from "./dlq-store.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** What a list shows of an entry. Every store makes its heads with it. */
export function deadLetterHead({ envelope, ...entry }: DeadLetter): DeadLetterHead {
  return {
    ...entry,
    envelopeId: envelope.id,
    payloadBytes: envelope.payload.length,
    fingerprint: fingerprintOf(entry),
  };
}
