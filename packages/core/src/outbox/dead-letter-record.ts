import {
  BridgeError,
  type Clock,
  type DlqStore,
  type OutboxClaim,
  type OutboxRecord,
  type OutboxStore,
  type Seams,
} from "@bridge/ports";
import { type Deadline, deadline, orAborted } from "@bridge/ports/internal";
import { replayIn } from "../dlq/failed-replay.ts";
import { keep, NOTHING_WRITTEN } from "../dlq/keep.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { deadLetterOf } from "../route/dead-letter.ts";

/** The loan under which a record is moved, in milliseconds; nobody else may send it meanwhile. */
const LOAN_MS = 60_000;
const STORE_TIMEOUT_MS = 10_000;

/** How a moved record ended: `dropped` if it redrove a dead letter that no longer exists. */
export type MovedAs = "dead_lettered" | "dropped";

export interface MoveOptions extends Seams {
  readonly outbox: OutboxStore;
  readonly dlq: DlqStore;
  readonly hooks: Pick<Hooks, "deadLetter">;
  /** Called for each record that has left the outbox. */
  readonly moved: (record: OutboxRecord, as: MovedAs) => void;
  /** Called for each that may have left it, because the outbox did not answer. */
  readonly doubted: (record: OutboxRecord, as: MovedAs) => void;
}

/** How many records were moved, and why the others were not. */
export interface MoveResult {
  readonly moved: number;
  readonly errors: readonly { readonly id: string; readonly error: string }[];
}

/**
 * Moves pending records to the DLQ, such as one that blocks its ordering key. Writes the dead letter first and ends the
 * record second, so a crash in between leaves both and loses none. A record that redrives a dead letter for a job or a
 * single redrive is in the DLQ already, so its dead letter is marked instead.
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

/** Returns why the record could not be moved. Finishes a record once begun: the caller's limit applies from the next one on. */
async function moveOne(id: string, options: MoveOptions): Promise<string | undefined> {
  const { outbox, clock, moved, doubted } = options;
  using limit = boundOf(clock);
  const { signal } = limit;
  const claim = await orAborted(outbox.claimOne(id, LOAN_MS, signal), signal);
  if (claim === undefined) return "record not pending, or being sent at the moment";
  const { record, token, attempts } = claim;
  let as: MovedAs;
  try {
    as = await keepClaimed(claim, options, signal);
  } catch (error) {
    const giveBack = { kind: "retry", delayMs: 0, attempts } as const;
    // A DLQ that does not answer has used up the first limit.
    using again = boundOf(clock);
    await orAborted(outbox.finish([{ id, token, outcome: giveBack }], again.signal), again.signal).catch(() => {});
    throw error;
  }
  const ending = orAborted(outbox.finish([{ id, token, outcome: { kind: "dead" } }], signal), signal);
  const [held] = await ending.catch((error: unknown) => {
    doubted(record, as);
    throw error;
  });
  const isKept = as === "dead_lettered";
  if (held !== true) return `the record was taken over by somebody else${isKept ? "; it is in the DLQ too" : ""}`;
  moved(record, as);
  return isKept
    ? undefined
    : "the dead letter that it redrove was deleted meanwhile: the record has ended, and nothing is written";
}

async function keepClaimed(
  { record, attempts }: OutboxClaim,
  { dlq, hooks, clock, logger }: MoveOptions,
  signal: AbortSignal,
): Promise<MovedAs> {
  const { routeId, bindingId, envelope, received = envelope, entryId } = record;
  const cause = new BridgeError("REJECTED", "moved from the outbox to the DLQ by an operator");
  const entry = deadLetterOf({ received, routeId, bindingId, attempts, failedAt: clock.now() }, cause);
  const replay = replayIn(received, entryId);
  const kept = await keep(entry, replay, (call) => orAborted(call(dlq, signal), signal));
  if (kept === "gone") {
    const told = { entry_id: entryId, job_id: replay?.jobId, route_id: routeId, binding_id: bindingId };
    logger.warn(NOTHING_WRITTEN, { ...told, code: cause.code, error: cause.message });
    return "dropped";
  }
  if (kept !== "marked") hooks.deadLetter(kept);
  return "dead_lettered";
}

function boundOf(clock: Clock): Deadline {
  return deadline(clock, STORE_TIMEOUT_MS, new BridgeError("TIMEOUT", "the store did not answer"));
}

function messageOf(error: unknown): string {
  return BridgeError.from(error).message;
}
