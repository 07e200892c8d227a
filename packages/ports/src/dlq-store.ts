import type { Envelope } from "./envelope.ts";
import type { ErrorClass, ErrorCode } from "./errors.ts";
import type { TellsHealth } from "./store-health.ts";

/** A message that could not be delivered, with why (spec 2.7). Times are epoch milliseconds. */
export interface DeadLetter {
  readonly id: string;
  readonly routeId: string;
  /** The binding that failed; empty when none had been chosen. A redrive goes to this binding only. */
  readonly bindingId: string;
  readonly sourceId: string;
  readonly correlationId: string;
  readonly subject: string;
  /** Why the message is here, in a word or a short sentence. */
  readonly reason: string;
  readonly category: ErrorClass;
  readonly errorCode: ErrorCode;
  readonly lastError: string;
  readonly failedAt: number;
  readonly attempts: number;
  /** Of a message that a redrive has sent: the id of the envelope that it repeats, and the how-manieth redrive that was. */
  readonly causationId?: string;
  readonly redrives?: number;
  /** As it was received, before any processor. */
  readonly envelope: Envelope;
}

/** A listed entry: everything but the envelope, and so without the payload. */
export type DeadLetterHead = Omit<DeadLetter, "envelope">;

/** Which entries; an empty filter means all. */
export interface DeadLetterFilter {
  readonly routeId?: string | undefined;
  readonly category?: ErrorClass | undefined;
  /** Failed at or after; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Failed before; epoch milliseconds. */
  readonly before?: number | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * Keeps dead letters. Methods reject with a {@link BridgeError} when the store cannot do the work, and with the
 * signal's reason when it aborts, leaving nothing half-written.
 */
export interface DlqStore extends AsyncDisposable, TellsHealth {
  /**
   * Resolves when the entry is durable, as far as the store's reach goes; only then does the engine accept the
   * delivery. Writing an id that is there already keeps the first entry and resolves.
   */
  put(entry: DeadLetter, signal: AbortSignal): Promise<void>;
  get(id: string, signal: AbortSignal): Promise<DeadLetter | undefined>;
  /** Oldest first: by `failedAt`, then by `id`. */
  list(filter: DeadLetterFilter, page: Page, signal: AbortSignal): Promise<readonly DeadLetterHead[]>;
  /** How many entries there are; stops counting at `cap`. */
  count(cap: number, signal: AbortSignal): Promise<number>;
  /** The deleting half; absent on a read-only store. */
  readonly admin?: DlqAdmin;
}

export interface DlqAdmin {
  /** Deletes and returns the ids that were there, so that of two racing callers one is told that it deleted an entry. */
  delete(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Deletes up to `limit` matching entries, oldest first; no limit deletes all of them. Returns how many. */
  deleteWhere(filter: DeadLetterFilter, limit: number | undefined, signal: AbortSignal): Promise<number>;
}
