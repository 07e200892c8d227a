import type { Clock, DeadLetterHead, DeadLetterPage, DeadLetterPosition, DeadLetterQuery } from "@bridge/ports";
import { askStore } from "../dlq/ensure-marked.ts";
import type { EntriesStore } from "./watched-store.ts";

const MAX_ID = 256;
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;
const LAST_CHARACTER = "\u{10FFFF}";
const PAGE = { limit: 200, budget: 10_000 } as const;
/** A page may have to look through many entries that are not of it. */
const PAGE_TIMEOUT_MS = 20_000;
/** Entries behind one that does not settle: further ones wait for it. */
const MAX_SPAN = 10_000;

export type PageFilter = (
  heads: readonly DeadLetterHead[],
  after: DeadLetterPosition | undefined,
  signal: AbortSignal,
) => Promise<readonly DeadLetterHead[]>;

export interface LaneReaderOptions {
  readonly store: Pick<EntriesStore, "page">;
  readonly clock: Clock;
  readonly query: DeadLetterQuery;
  readonly cursor: DeadLetterPosition | undefined;
  /** The last that belongs to it. */
  readonly until: DeadLetterPosition | undefined;
  /** Which of a page, read from behind `after`, it is about. Default: all. */
  readonly only?: PageFilter | undefined;
}

/** The entries of a lane, oldest first, and how far all of them are settled. */
export class LaneReader {
  readonly #options: LaneReaderOptions;
  /** Read and not taken yet. */
  readonly #ahead: DeadLetterHead[] = [];
  /** Taken and given back, oldest first. */
  readonly #back: DeadLetterHead[] = [];
  /** Taken, in their order: whether each is settled. Goes from the front. */
  readonly #taken = new Map<string, { readonly at: DeadLetterPosition; settled: boolean }>();
  #cursor: DeadLetterPosition | undefined;
  #next: DeadLetterPosition | undefined;
  #isRead = false;
  #filling: Promise<void> | undefined;

  constructor(options: LaneReaderOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    this.#next = options.cursor;
  }

  /** Everything up to here is settled. */
  get cursor(): DeadLetterPosition | undefined {
    return this.#cursor;
  }

  /** Whether there is something to take. */
  get hasNext(): boolean {
    return this.#back.length > 0 || (this.#ahead.length > 0 && this.#taken.size < MAX_SPAN);
  }

  /** Whether all of it is settled. */
  get isEnded(): boolean {
    return this.#isRead && this.#ahead.length === 0 && this.#taken.size === 0;
  }

  /** Reads on when little is left; resolves when that is done, and rejects with what the store does. One at a time. */
  fill(signal: AbortSignal): Promise<void> | undefined {
    if (this.#isRead || this.#filling !== undefined || this.#ahead.length >= PAGE.limit / 2) return undefined;
    this.#filling = this.#read(signal).finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  take(): DeadLetterHead | undefined {
    const back = this.#back.shift();
    if (back !== undefined) return back;
    if (!this.hasNext) return undefined;
    const head = this.#ahead.shift();
    if (head !== undefined) this.#taken.set(head.id, { at: positionOf(head), settled: false });
    return head;
  }

  /** It was not attempted: it comes again, in its place. */
  giveBack(head: DeadLetterHead): void {
    const at = this.#back.findIndex((other) => isBehind(other, head));
    this.#back.splice(at === -1 ? this.#back.length : at, 0, head);
  }

  settle({ id }: Pick<DeadLetterHead, "id">): void {
    const taken = this.#taken.get(id);
    if (taken !== undefined) taken.settled = true;
    for (const [first, { at, settled }] of this.#taken) {
      if (!settled) break;
      this.#taken.delete(first);
      this.#cursor = at;
    }
  }

  /** Whether the cursor has passed it. */
  isPassed(id: string): boolean {
    return !this.#taken.has(id);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { store, clock, query, until, only } = this.#options;
    const after = this.#next;
    const page = await pageOf({ store, clock, query }, after, signal);
    const within = until === undefined ? page.entries : page.entries.filter((head) => !isBehind(head, until));
    this.#ahead.push(...(only === undefined ? within : await only(within, after, signal)));
    this.#next = page.next;
    this.#isRead = page.next === undefined || within.length < page.entries.length;
  }
}

/** The next entries, oldest first. */
export function pageOf(
  { store, clock, query }: Pick<LaneReaderOptions, "store" | "clock" | "query">,
  after: DeadLetterPosition | undefined,
  signal: AbortSignal,
): Promise<DeadLetterPage> {
  return askStore(
    { clock, signal },
    (bound) => store.page(query, { ...PAGE, order: "oldest", after }, bound),
    PAGE_TIMEOUT_MS,
  );
}

/** Whether `one` comes after `other`. */
export function isBehind(one: DeadLetterPosition, other: DeadLetterPosition): boolean {
  return one.failedAt > other.failedAt || (one.failedAt === other.failedAt && one.id > other.id);
}

/** Behind an entry, and behind all that begin like its id where somebody has made that longer than any: documents have an end. */
export function positionOf({ failedAt, id }: DeadLetterPosition): DeadLetterPosition {
  return { failedAt, id: id.length <= MAX_ID ? id : id.slice(0, MAX_ID).replace(HALF_CHARACTER, "") + LAST_CHARACTER };
}
