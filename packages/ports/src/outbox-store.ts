import type { Page } from "./dlq-store.ts";
import type { Envelope } from "./envelope.ts";
import type { BridgeError } from "./errors.ts";
import type { TellsHealth } from "./store-health.ts";

/** A leg that the bridge has accepted and its target has not: what an outbox keeps. Times are epoch milliseconds. */
export interface OutboxRecord {
  readonly id: string;
  readonly routeId: string;
  readonly bindingId: string;
  /** The binding's address with its placeholders filled in. */
  readonly address: string;
  /** What is sent. */
  readonly envelope: Envelope;
  /** What was received, when processors changed it: what a dead letter keeps. */
  readonly received?: Envelope | undefined;
  /** SHA-256 of the payload that was received: tells a repeat from another message under the same id. */
  readonly payloadDigest: string;
  /** The dead letter that this record redrives; it is deleted when the record is delivered. */
  readonly entryId?: string | undefined;
  /**
   * What it is unique by in its route and binding. Default: the envelope's id, which is never the same as an identity that is given.
   * A redrive has one, because it goes out under a fresh envelope id and yet once. Only `persist` needs it: a claim may leave it out.
   */
  readonly identity?: string | undefined;
  /** Records of one key are sent in the order in which they were persisted, per route and binding. */
  readonly orderingKey?: string | undefined;
  readonly createdAt: number;
}

/** What became of one record of a {@link OutboxStore.persist}. */
export type PersistResult =
  | { readonly kind: "persisted" }
  /** The same payload is there already for this route, binding and identity, finished or not. */
  | { readonly kind: "duplicate"; readonly id: string; readonly status: OutboxStatus }
  /** Another payload is there under this route, binding and identity; nothing was written. */
  | { readonly kind: "conflict" }
  /**
   * The store will never take this record, such as one that is too large; nothing of it was written. A transient error counts as
   * `REJECTED`: no other try follows.
   */
  | { readonly kind: "refused"; readonly error: BridgeError };

/**
 * `pending`: to be sent, or lent to somebody who sends it. `done`: delivered. `dead`: given up, and a dead letter says
 * so if the policy wants one. Finished records stay for a time as evidence against duplicates.
 */
export type OutboxStatus = "pending" | "done" | "dead";

/** Whose records those are that one drain delivers. */
export interface OutboxPlace {
  readonly routeId: string;
  readonly bindingId: string;
}

/** Whose records are asked for, and how many. */
export interface ClaimRequest extends OutboxPlace {
  readonly limit: number;
  /** How long the records are lent, in milliseconds of a clock that is not set. */
  readonly loanMs: number;
}

/** A record lent to one drainer. `token` fences: what is said of it is refused once somebody else has it on loan. */
export interface OutboxClaim {
  readonly record: OutboxRecord;
  readonly token: string;
  /** Sends that were charged before. */
  readonly attempts: number;
}

/** How a loan ends. */
export interface ClaimEnd {
  readonly id: string;
  readonly token: string;
  readonly outcome:
    | { readonly kind: "done" }
    | { readonly kind: "dead" }
    /**
     * Pending again, with so many sends charged in all, and not to be lent for `delayMs`: of a clock that is not set, so
     * that nothing waits for an hour because somebody has put the time of day back by one. A store that is opened
     * again may go by the time of day as long as it adds no more than `delayMs` to the wait.
     */
    | { readonly kind: "retry"; readonly delayMs: number; readonly attempts: number };
}

/** What waits for one binding of a route. */
export interface OutboxBacklog {
  readonly routeId: string;
  readonly bindingId: string;
  /** Unfinished records, lent ones included. */
  readonly depth: number;
  readonly oldestCreatedAt: number;
  /** Ordering keys whose oldest record waits for a retry, so that the younger ones wait with it. */
  readonly blockedKeys: number;
}

/** An ordering key that is blocked: its oldest record waits for a retry, and the younger ones with it. */
export interface BlockedKey extends OutboxPlace {
  readonly orderingKey: string;
  /** Unfinished records of the key; of very many a lower bound. */
  readonly depth: number;
  readonly oldestId: string;
  /** Sends of the oldest that were charged. */
  readonly attempts: number;
  /** When the oldest is sent again, by the clock as it stands now. */
  readonly dueAt: number;
  /** When the oldest was persisted: it is not blocked for longer. */
  readonly oldestCreatedAt: number;
}

/** A listed record: without its payload. */
export interface OutboxHead {
  readonly id: string;
  readonly routeId: string;
  readonly bindingId: string;
  readonly envelopeId: string;
  readonly subject: string;
  readonly address: string;
  readonly orderingKey?: string | undefined;
  readonly createdAt: number;
  /** When it may be sent, by the clock as it stands now. */
  readonly dueAt: number;
  readonly attempts: number;
  readonly lent: boolean;
}

export interface OutboxFilter {
  readonly routeId?: string | undefined;
  readonly bindingId?: string | undefined;
}

/**
 * Keeps messages between the acceptance at their source and the acceptance at their target. Methods reject with a
 * {@link BridgeError} when the store cannot do the work, and with the signal's reason when it aborts; what an aborted
 * `persist` or `finish` has done is then unknown, and saying it again is harmless.
 */
export interface OutboxStore extends AsyncDisposable, TellsHealth {
  /**
   * Whether other processes may persist and claim in it at the same time, so that one's own records end elsewhere and
   * those of others here. Default: false.
   */
  readonly shared?: boolean;
  /**
   * Of a shared store that hears of it: calls `arrived` when another process has persisted records of this place, until
   * disposed. It may miss some, and call for nothing: only a claim says what there is.
   */
  onArrival?(place: OutboxPlace, arrived: () => void): Disposable;
  /**
   * Resolves when the records are durable, as far as the store's reach goes: together, so that a crash leaves all of
   * them or none. Concurrent calls may share one write. Unique by route, binding and identity.
   */
  persist(records: readonly OutboxRecord[], signal: AbortSignal): Promise<readonly PersistResult[]>;
  /**
   * Lends up to `limit` due records, in the order in which they were persisted, each to one caller. A new record is due
   * at once, one to be tried again after its `delayMs`. A record with an ordering key is lent only when
   * no older unfinished one of its key, route and binding exists that the same call does not return before it.
   */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<readonly OutboxClaim[]>;
  /** Lends one pending record, due or not and whatever its ordering key; `undefined` when it is lent, finished or unknown. */
  claimOne(id: string, loanMs: number, signal: AbortSignal): Promise<OutboxClaim | undefined>;
  /** Ends loans, durably. False for each whose loan had lapsed and been given to somebody else, or been ended. */
  finish(ends: readonly ClaimEnd[], signal: AbortSignal): Promise<readonly boolean[]>;
  /** `undefined` for a record that is unknown, or finished so long ago that it is forgotten. */
  status(id: string, signal: AbortSignal): Promise<OutboxStatus | undefined>;
  /** The pending record that redrives a dead letter. */
  redriving(entryId: string, signal: AbortSignal): Promise<string | undefined>;
  /** One line for each binding that has unfinished records. */
  backlog(signal: AbortSignal): Promise<readonly OutboxBacklog[]>;
  /** Up to `limit` of the {@link OutboxBacklog.blockedKeys}, in the order of their oldest records. Absent: it cannot tell them. */
  blockedKeys?(filter: OutboxFilter, limit: number, signal: AbortSignal): Promise<readonly BlockedKey[]>;
  /** Unfinished records, in the order in which they were persisted. */
  list(filter: OutboxFilter, page: Page, signal: AbortSignal): Promise<readonly OutboxHead[]>;
}
