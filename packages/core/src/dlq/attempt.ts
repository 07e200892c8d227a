import { BridgeError, type Clock, type DeadLetter, type Logger } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { traceFields } from "../trace/trace-fields.ts";
import { deletePatiently, type DeletingStore } from "./delete-delivered.ts";
import type { DeliveredEntries } from "./delivered-entries.ts";

/** What one attempt to redrive an entry came to. */
export type Attempted =
  | { readonly kind: "delivered" }
  /** Delivered, and somebody else had deleted the entry by then. */
  | { readonly kind: "gone" }
  /** Delivered, and the store did not delete it: another attempt does that, and sends nothing. */
  | { readonly kind: "not_deleted" }
  /** The route has ended it otherwise. */
  | { readonly kind: "not_delivered"; readonly result: InjectResult }
  /** Nothing is known of it, because its time was up (`late`), or because it was given up. */
  | { readonly kind: "unknown"; readonly late: boolean }
  /** Nothing has begun, or it is in the outbox: as the error says. `late`: that was waited for until the time was up. */
  | { readonly kind: "refused"; readonly error: OperationError; readonly late: boolean }
  | { readonly kind: "failed"; readonly error: BridgeError };

export interface AttemptOptions {
  readonly store: DeletingStore;
  readonly replay: (signal: AbortSignal) => Promise<InjectResult>;
  /** Shared by all redrives of this process: what is in it is deleted and not sent. */
  readonly delivered: DeliveredEntries;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Bounds the replay, in milliseconds. Default 30 s. */
  readonly replayTimeoutMs?: number | undefined;
}

export const REPLAY_TIMEOUT_MS = 30_000;
/** Deleting after a confirmed delivery is not cut off by the caller's bound: the entry would come back as a duplicate. */
export const DELETE_TIMEOUT_MS = 5_000;

/** What a route that did not deliver has done instead, in words. */
export function notDelivered({ outcome, error }: InjectResult): string {
  return `not delivered, ${outcome}${error === undefined ? "" : `: ${error.message}`}`;
}

/** Injects, then deletes. Never rejects. */
export async function attempt(options: AttemptOptions, entry: DeadLetter): Promise<Attempted> {
  const { replay, delivered } = options;
  if (delivered.has(entry)) return remove(options, entry, undefined);
  using limit = deadline(
    options.clock,
    options.replayTimeoutMs ?? REPLAY_TIMEOUT_MS,
    () => new Error("the replay took too long"),
  );
  const signal = AbortSignal.any([options.signal, limit.signal]);
  let result: InjectResult;
  try {
    result = await replay(signal);
  } catch (error) {
    const told = error instanceof OperationError ? error : undefined;
    const late = limit.signal.aborted;
    if (told?.kind === "pending" || told?.kind === "not_begun") return { kind: "refused", error: told, late };
    if (signal.aborted) return { kind: "unknown", late: !options.signal.aborted };
    if (told === undefined) return { kind: "failed", error: BridgeError.from(error) };
    return { kind: "refused", error: told, late };
  }
  return result.outcome === "delivered" ? await remove(options, entry, result) : { kind: "not_delivered", result };
}

async function remove(
  { store, clock, logger, delivered }: AttemptOptions,
  entry: DeadLetter,
  result: InjectResult | undefined,
): Promise<Attempted> {
  const { id } = entry;
  using bound = deadline(clock, DELETE_TIMEOUT_MS, () => new Error("the DLQ store did not answer"));
  try {
    const deleted = await deletePatiently({ store, clock }, id, bound.signal);
    delivered.delete(id);
    return { kind: deleted.has(id) || result?.entryMayBeGone === true ? "delivered" : "gone" };
  } catch (error) {
    delivered.add(entry);
    const count = delivered.toTell(clock.monotonic());
    if (count > 0)
      logger.error("redriven entries not deleted: until this process ends, a redrive deletes them and sends nothing", {
        count,
        entry_id: id,
        error: BridgeError.from(error).message,
        ...traceFields(result?.trace),
      });
    return { kind: "not_deleted" };
  }
}
