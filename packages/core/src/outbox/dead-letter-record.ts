import { BridgeError, type Clock, type DlqStore, type OutboxRecord, type OutboxStore, type Seams } from "@bridge/ports";
import { type Deadline, deadline, orAborted } from "@bridge/ports/internal";
import type { Hooks } from "../hooks/hooks.ts";
import { deadLetterOf } from "../route/dead-letter.ts";

/** The loan under which a record is moved; nobody else may send it meanwhile. */
const LOAN_MS = 60_000;
const STORE_TIMEOUT_MS = 10_000;

export interface MoveOptions extends Seams {
  readonly outbox: OutboxStore;
  readonly dlq: DlqStore;
  readonly hooks: Hooks;
  /** Hears of each record that has left the outbox. */
  readonly moved: (record: OutboxRecord) => void;
  /** Hears of each that may have left it: the outbox has not answered. */
  readonly doubted: (record: OutboxRecord) => void;
}

/** How many records went, and why the others did not. */
export interface MoveResult {
  readonly moved: number;
  readonly errors: readonly { readonly id: string; readonly error: string }[];
}

/**
 * Moves pending records to the DLQ, such as one that holds up all others of its ordering key: the dead letter first,
 * then the end of the record, so that a crash in between leaves both and loses none.
 */
export async function deadLetterRecords(
  ids: readonly string[],
  options: MoveOptions,
  signal: AbortSignal,
): Promise<MoveResult> {
  const errors: { id: string; error: string }[] = [];
  const distinct = [...new Set(ids)];
  for (const id of distinct) {
    const error = signal.aborted ? "not attempted" : await moveOne(id, options).catch(messageOf);
    if (error !== undefined) errors.push({ id, error });
  }
  return { moved: distinct.length - errors.length, errors };
}

/** Says why it could not be moved. Sees a record through once it has begun: the caller's bound stops at the next one. */
async function moveOne(
  id: string,
  { outbox, dlq, hooks, clock, moved, doubted }: MoveOptions,
): Promise<string | undefined> {
  using limit = boundOf(clock);
  const { signal } = limit;
  const claim = await orAborted(outbox.claimOne(id, LOAN_MS, signal), signal);
  if (claim === undefined) return "record not pending, or being sent at the moment";
  const { record, token, attempts } = claim;
  try {
    const { routeId, bindingId } = record;
    const received = record.received ?? record.envelope;
    const failedAt = clock.now();
    const cause = new BridgeError("REJECTED", "moved from the outbox to the DLQ by an operator");
    const entry = deadLetterOf({ received, routeId, bindingId, attempts, failedAt }, cause);
    await orAborted(dlq.put(entry, signal), signal);
    hooks.deadLetter(entry);
  } catch (error) {
    const giveBack = { kind: "retry", delayMs: 0, attempts } as const;
    // A DLQ that does not answer has used up the other bound.
    using again = boundOf(clock);
    await orAborted(outbox.finish([{ id, token, outcome: giveBack }], again.signal), again.signal).catch(() => {});
    throw error;
  }
  const ending = orAborted(outbox.finish([{ id, token, outcome: { kind: "dead" } }], signal), signal);
  const [held] = await ending.catch((error: unknown) => {
    doubted(record);
    throw error;
  });
  if (held !== true) return "the record was taken over by somebody else; it is in the DLQ too";
  moved(record);
  return undefined;
}

function boundOf(clock: Clock): Deadline {
  return deadline(clock, STORE_TIMEOUT_MS, new BridgeError("TIMEOUT", "the store did not answer"));
}

function messageOf(error: unknown): string {
  return BridgeError.from(error).message;
}
