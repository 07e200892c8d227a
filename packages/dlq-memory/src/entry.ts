import type { DeadLetterHead, DeadLetterMarks, Envelope } from "@bridge/ports";

export interface Entry {
  /** Frozen, so that it may be handed out as it is; another one when it is marked. */
  head: DeadLetterHead;
  readonly envelope: Envelope;
}

/** That nobody can change. */
export function ownHead({ marks, ...head }: DeadLetterHead): DeadLetterHead {
  return Object.freeze({ ...head, ...(marks !== undefined && { marks: ownMarks(marks) }) });
}

export function withMarks(before: DeadLetterHead, marks: DeadLetterMarks | undefined): DeadLetterHead {
  const { marks: _, ...head } = before;
  return ownHead({ ...head, ...(marks !== undefined && { marks }) });
}

export function copyOf(envelope: Envelope): Envelope {
  return { ...envelope, headers: { ...envelope.headers }, payload: Uint8Array.from(envelope.payload) };
}

function ownMarks({ redrives, notes, ...marks }: DeadLetterMarks): DeadLetterMarks {
  return Object.freeze({
    ...marks,
    ...(redrives !== undefined && { redrives: Object.freeze({ ...redrives }) }),
    ...(notes !== undefined && { notes: Object.freeze(notes.map((note) => Object.freeze({ ...note }))) }),
  });
}
