import {
  type DeadLetter,
  type DeadLetterFilter,
  deadLetterHead,
  type DeadLetterHead,
  type DeadLetterPage,
  type DeadLetterPosition,
  type DeadLetterQuery,
  type FacetsRequest,
  type KeyedPage,
  type MarkChange,
  marked,
  mergedMarks,
  type Page,
} from "@bridge/ports";
import { FacetTally, matchesQuery, oneAt, PageOfHeads, type Steps } from "@bridge/ports/internal";
import { copyOf, type Entry, ownHead, withMarks } from "./entry.ts";

/** Dead letters by id and, oldest first, by when they failed. Nothing that comes in or goes out can change an entry. */
export class DeadLetterIndex {
  readonly #byId = new Map<string, Entry>();
  /** By `failedAt`, then by `id`. Failures come in the order of time, so a new entry nearly always goes to the end. */
  #sorted: Entry[] = [];

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Marks are added later: it comes without any. */
  add(deadLetter: DeadLetter): void {
    const { marks: _, ...head } = deadLetterHead(deadLetter);
    this.insert({ head: ownHead(head), envelope: copyOf(deadLetter.envelope) });
  }

  /** As it is. */
  insert(entry: Entry): void {
    const { id, failedAt } = entry.head;
    this.#byId.set(id, entry);
    this.#sorted.splice(this.#firstFrom(failedAt, id), 0, entry);
  }

  get(id: string): DeadLetter | undefined {
    const entry = this.#byId.get(id);
    if (entry === undefined) return undefined;
    const { envelopeId: _, payloadBytes: __, fingerprint: ___, ...head } = entry.head;
    return { ...head, envelope: copyOf(entry.envelope) };
  }

  list(filter: DeadLetterFilter, { limit, offset }: Page): readonly DeadLetterHead[] {
    const [start, end] = this.#span(filter);
    if (filter.routeId === undefined && filter.category === undefined) {
      return this.#sorted.slice(Math.min(start + offset, end), Math.min(start + offset + limit, end)).map(headOf);
    }
    const page: DeadLetterHead[] = [];
    let skipped = 0;
    for (let i = start; i < end && page.length < limit; i++) {
      const { head } = this.#sorted[i] as Entry;
      if (!matches(head, filter)) continue;
      if (skipped < offset) skipped++;
      else page.push(head);
    }
    return page;
  }

  page(query: DeadLetterQuery, { order, after, ...bounds }: KeyedPage): DeadLetterPage {
    const page = new PageOfHeads(query, bounds);
    let [start, end] = this.#span(query);
    if (order === "oldest") {
      if (after !== undefined) start = Math.max(start, this.#firstBehind(after));
      for (let i = start; i < end; i++) if (page.add((this.#sorted[i] as Entry).head)) break;
    } else {
      if (after !== undefined) end = Math.min(end, this.#firstFrom(after.failedAt, after.id));
      for (let i = end - 1; i >= start; i--) if (page.add((this.#sorted[i] as Entry).head)) break;
    }
    return page.page;
  }

  /** Goes through the entries that are there now, however many. */
  *tally(request: FacetsRequest): Steps<FacetTally<DeadLetterHead>> {
    const tally = new FacetTally<DeadLetterHead>(request);
    for (const { head } of this.#sorted.slice(...this.#span(request.query))) {
      yield;
      if (matchesQuery(head, request.query)) tally.add(head, oneAt(head.failedAt));
    }
    return tally;
  }

  /** False when there is no such entry. */
  mark(id: string, change: MarkChange): boolean {
    const entry = this.#byId.get(id);
    if (entry === undefined) return false;
    entry.head = withMarks(entry.head, marked(entry.head.marks, change));
    return true;
  }

  /** Brings an entry back, as it is. False when its id is there again: the entry that is there gets its marks. */
  bringBack(entry: Entry): boolean {
    const there = this.#byId.get(entry.head.id);
    if (there === undefined) this.insert(entry);
    else there.head = withMarks(there.head, mergedMarks(there.head.marks, entry.head.marks));
    return there === undefined;
  }

  /** Takes them out and returns those that were there, by their ids. */
  take(ids: readonly string[]): ReadonlyMap<string, Entry> {
    const taken = new Map<string, Entry>();
    for (const id of ids) {
      const entry = this.#byId.get(id);
      if (entry !== undefined) taken.set(id, entry);
    }
    const [first] = taken.values();
    if (taken.size === 1) this.#takeOne(first as Entry);
    else if (taken.size > 1) this.#takeMany(taken);
    return taken;
  }

  /** Returns the ids that were there. */
  delete(ids: readonly string[]): ReadonlySet<string> {
    return new Set(this.take(ids).keys());
  }

  /** Returns how many, at most `limit`, were deleted, oldest first. */
  deleteWhere(filter: DeadLetterFilter, limit: number): number {
    return this.take(this.list(filter, { limit, offset: 0 }).map((head) => head.id)).size;
  }

  clear(): void {
    this.#byId.clear();
    this.#sorted = [];
  }

  #takeOne({ head }: Entry): void {
    this.#sorted.splice(this.#firstFrom(head.failedAt, head.id), 1);
    this.#byId.delete(head.id);
  }

  /** One pass over all entries, however many go. */
  #takeMany(gone: ReadonlyMap<string, Entry>): void {
    this.#sorted = this.#sorted.filter((entry) => !gone.has(entry.head.id));
    for (const id of gone.keys()) this.#byId.delete(id);
  }

  /** Where the entries of the filter's time begin, and where they end. */
  #span({ since, before }: DeadLetterFilter): readonly [start: number, end: number] {
    return [
      since === undefined ? 0 : this.#firstFrom(since, ""),
      before === undefined ? this.#sorted.length : this.#firstFrom(before, ""),
    ];
  }

  #firstBehind({ failedAt, id }: DeadLetterPosition): number {
    const index = this.#firstFrom(failedAt, id);
    const head = this.#sorted[index]?.head;
    return head?.failedAt === failedAt && head.id === id ? index + 1 : index;
  }

  /** The position of the first entry that is not older than this one would be. */
  #firstFrom(failedAt: number, id: string): number {
    let [low, high] = [0, this.#sorted.length];
    const last = this.#sorted[high - 1]?.head;
    if (last === undefined || isOlder(last, failedAt, id)) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOlder((this.#sorted[middle] as Entry).head, failedAt, id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isOlder(head: DeadLetterHead, failedAt: number, id: string): boolean {
  return head.failedAt < failedAt || (head.failedAt === failedAt && head.id < id);
}

function matches(head: DeadLetterHead, { routeId, category }: DeadLetterFilter): boolean {
  return (routeId === undefined || head.routeId === routeId) && (category === undefined || head.category === category);
}

function headOf(entry: Entry): DeadLetterHead {
  return entry.head;
}
