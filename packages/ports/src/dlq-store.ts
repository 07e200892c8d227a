import type { DeadLetterMarks, MarkChange } from "./dead-letter-marks.ts";
import type { Envelope } from "./envelope.ts";
import type { DlqJobs } from "./dlq-jobs.ts";
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
  /** What operators and jobs have added since it was written; `put` takes no heed of it. */
  readonly marks?: DeadLetterMarks;
  /** As it was received, before any processor. */
  readonly envelope: Envelope;
}

/** What a list shows of the envelope and the error. Empty and 0 when the entry cannot be read. */
export interface DeadLetterFacts {
  readonly envelopeId: string;
  readonly payloadBytes: number;
  /** The same for errors that differ only in ids, numbers, times and the like: 16 hexadecimal digits. */
  readonly fingerprint: string;
}

/** A listed entry: everything but the envelope, and so without the payload. Made by `deadLetterHead`. */
export type DeadLetterHead = Omit<DeadLetter, "envelope"> & DeadLetterFacts;

/** Which entries; an empty filter means all. */
export interface DeadLetterFilter {
  readonly routeId?: string | undefined;
  readonly category?: ErrorClass | undefined;
  /** Failed at or after; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Failed before; epoch milliseconds. */
  readonly before?: number | undefined;
}

/** Which entries, by more than every store has an index for. */
export interface DeadLetterQuery extends DeadLetterFilter {
  /** Empty: those without a binding. */
  readonly bindingId?: string | undefined;
  readonly errorCode?: ErrorCode | undefined;
  readonly fingerprint?: string | undefined;
  readonly envelopeId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly subjectPrefix?: string | undefined;
  /** Empty: those without one. */
  readonly assignee?: string | undefined;
  readonly quarantined?: boolean | undefined;
  /** Last redriven by this job. */
  readonly jobId?: string | undefined;
}

export interface Page {
  /** A whole number from 0. */
  readonly limit: number;
  /** A whole number from 0. */
  readonly offset: number;
}

/** A place between entries: behind the entry with this time and id, whether that is there or not. */
export interface DeadLetterPosition {
  readonly failedAt: number;
  readonly id: string;
}

/** By time of failure, then by id; `newest` is the reverse. */
export type DeadLetterOrder = "oldest" | "newest";

/** A page by key: it begins where the one before ended, whatever was written or deleted meanwhile. */
export interface KeyedPage {
  readonly limit: number;
  readonly order: DeadLetterOrder;
  /** Default: from the first entry on. */
  readonly after?: DeadLetterPosition | undefined;
  /** How many heads may be looked at; a page may then be short, even empty, and still have a `next`. */
  readonly budget: number;
}

export interface DeadLetterPage {
  readonly entries: readonly DeadLetterHead[];
  /** Where the next page begins; absent when nothing more matches. */
  readonly next?: DeadLetterPosition | undefined;
  /** Heads that were looked at. */
  readonly scanned: number;
}

/** What entries are grouped by. */
export type FacetKey = "routeId" | "bindingId" | "category" | "errorCode" | "fingerprint" | "assignee";

export interface FacetsRequest {
  readonly query: DeadLetterQuery;
  /** One or two. */
  readonly by: readonly FacetKey[];
  /** The largest so many. */
  readonly maxGroups: number;
  /** Steps of the histogram over the time of failure; 0: none. */
  readonly buckets: number;
  /** Counted anew, for whoever acts on it: a store that keeps answers for a while gives none of those. Default: false. */
  readonly fresh?: boolean | undefined;
}

export interface FacetGroup {
  readonly key: Readonly<Partial<Record<FacetKey, string>>>;
  readonly count: number;
  readonly oldestFailedAt: number;
  readonly newestFailedAt: number;
  /** One entry of the group; absent when it has been deleted since it was counted. */
  readonly sample?: DeadLetterHead | undefined;
}

export interface Facets {
  /** How many match; of what was looked at, when it is not exact. */
  readonly total: number;
  /** False: only the newest `counted` were looked at. */
  readonly exact: boolean;
  readonly counted: number;
  /** When it was counted, in epoch milliseconds; absent: now. */
  readonly asOf?: number | undefined;
  /** Epoch milliseconds; absent when nothing matches. */
  readonly oldestFailedAt?: number | undefined;
  readonly newestFailedAt?: number | undefined;
  /** Largest first. */
  readonly groups: readonly FacetGroup[];
  readonly moreGroups: boolean;
  readonly histogram?: FacetHistogram | undefined;
}

export interface FacetHistogram {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly stepMs: number;
  readonly counts: readonly number[];
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
  /** Oldest first: by `failedAt`, then by `id`. @throws RangeError when the page is none */
  list(filter: DeadLetterFilter, page: Page, signal: AbortSignal): Promise<readonly DeadLetterHead[]>;
  /** How many entries there are; stops counting at `cap`. */
  count(cap: number, signal: AbortSignal): Promise<number>;
  /** Entries by key, with any filter. */
  page?(query: DeadLetterQuery, page: KeyedPage, signal: AbortSignal): Promise<DeadLetterPage>;
  /** Counts by groups, without reading every entry where the store can. */
  facets?(request: FacetsRequest, signal: AbortSignal): Promise<Facets>;
  /** The deleting half; absent on a read-only store. */
  readonly admin?: DlqAdmin;
  readonly marks?: DlqMarks;
  /** Jobs live with the entries that they work on, as durable as those. */
  readonly jobs?: DlqJobs;
}

export interface DlqMarks {
  /** Applies `marked` to each of these entries, each atomically. Returns the ids that were there. */
  mark(changes: ReadonlyMap<string, MarkChange>, signal: AbortSignal): Promise<ReadonlySet<string>>;
}

export interface DeleteOptions {
  /**
   * Their messages are delivered: what the trash has of these ids is erased as well, in whatever batch, so that nothing brings them back.
   * Also of an entry that is being moved there, or back, at the same time; not another entry that somebody has given such an id.
   */
  readonly delivered?: boolean | undefined;
}

export interface DlqAdmin {
  /**
   * Deletes and returns the ids that were there, so that of two racing callers one is told that it deleted an entry. What is in the trash
   * is not there, and stays unless the messages are `delivered`.
   */
  delete(ids: readonly string[], signal: AbortSignal, options?: DeleteOptions): Promise<ReadonlySet<string>>;
  /** Deletes up to `limit` matching entries, oldest first; no limit deletes all of them. Returns how many. */
  deleteWhere(filter: DeadLetterFilter, limit: number | undefined, signal: AbortSignal): Promise<number>;
  readonly trash?: DlqTrash;
}

/** What has left the trash: together never more than the limit, and 0 when none is left. */
export interface TakenBack {
  /** Entries that were not there and are again. */
  readonly restored: number;
  /** Of those whose id was there: only their marks were added. */
  readonly present: number;
}

/**
 * Deleted entries that can be taken back. No list, count, facet, redrive or `get` has them, and their ids can be written again.
 * What is over its time is not there any more, whether it has been erased yet or not. Until a job of {@link DlqStore.jobs} that has the name of
 * the batch as its id and is `undoing` is that no more, the batch is in time, and not erased: what was promised to come back does, however
 * late that is. A store whose entries somebody else may change holds their ends against that job: until its `undoUntil` the batch is in
 * time, too, and a day after that and after the last end that the job can have given, nothing of it is left, if the seal of the job
 * holds.
 */
export interface DlqTrash {
  /**
   * Moves entries into the trash, under the name of a batch. Returns the ids that were there. The store erases them soon after `until`, in
   * epoch milliseconds as this process counts them: a store that processes share goes by one clock of its own from then on. Of an id that the batch has already the later entry is kept, with the marks of both (`mergedMarks`).
   */
  move(ids: readonly string[], batch: string, until: number, signal: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * Brings up to `limit` entries of a batch back, as they were, with their marks. Where the id has been written again meanwhile, the entry
   * that is there stays, which is the newer truth, and gets the marks of the other (`mergedMarks`). Of two entries of which somebody
   * has given one the id of the other neither is that: the one of the trash comes back under a new id, as one that is spoiled, and counts as
   * restored. At every moment, whoever is killed and whoever marks at the same time, each entry is in the trash or out of it, and its marks with it. What was killed in the middle may
   * count one as present that it has restored, and none as restored that was there.
   */
  restore(batch: string, limit: number, signal: AbortSignal): Promise<TakenBack>;
  /**
   * How many entries the trash holds, or one batch of it; stops counting at `cap`. Whoever has lost an answer of `move` or `restore` learns
   * by the batch what has become of it.
   */
  count(cap: number, signal: AbortSignal, batch?: string): Promise<number>;
}
