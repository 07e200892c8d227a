import {
  type DeadLetter,
  type DeadLetterFilter,
  deadLetterHead,
  type DeadLetterHead,
  type Envelope,
  type Page,
} from "@bridge/ports";

interface Entry {
  /** Frozen, so that it may be handed out as it is. */
  readonly head: DeadLetterHead;
  readonly envelope: Envelope;
}

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

  add(deadLetter: DeadLetter): void {
    const head = Object.freeze(deadLetterHead(deadLetter));
    const entry = { head, envelope: copyOf(deadLetter.envelope) };
    this.#byId.set(head.id, entry);
    this.#sorted.splice(this.#firstFrom(head.failedAt, head.id), 0, entry);
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

  /** Returns the ids that were there. */
  delete(ids: readonly string[]): ReadonlySet<string> {
    const gone = new Set(ids.filter((id) => this.#byId.has(id)));
    if (gone.size === 1) this.#deleteOne([...gone][0] as string);
    else if (gone.size > 1) this.#deleteMany(gone);
    return gone;
  }

  /** Returns how many, at most `limit`, were deleted, oldest first. */
  deleteWhere(filter: DeadLetterFilter, limit: number): number {
    return this.delete(this.list(filter, { limit, offset: 0 }).map((head) => head.id)).size;
  }

  clear(): void {
    this.#byId.clear();
    this.#sorted = [];
  }

  #deleteOne(id: string): void {
    const { head } = this.#byId.get(id) as Entry;
    this.#sorted.splice(this.#firstFrom(head.failedAt, id), 1);
    this.#byId.delete(id);
  }

  /** One pass over all entries, however many go. */
  #deleteMany(gone: ReadonlySet<string>): void {
    this.#sorted = this.#sorted.filter((entry) => !gone.has(entry.head.id));
    for (const id of gone) this.#byId.delete(id);
  }

  /** Where the entries of the filter's time begin, and where they end. */
  #span({ since, before }: DeadLetterFilter): readonly [start: number, end: number] {
    return [
      since === undefined ? 0 : this.#firstFrom(since, ""),
      before === undefined ? this.#sorted.length : this.#firstFrom(before, ""),
    ];
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

function copyOf(envelope: Envelope): Envelope {
  return { ...envelope, headers: { ...envelope.headers }, payload: Uint8Array.from(envelope.payload) };
}
