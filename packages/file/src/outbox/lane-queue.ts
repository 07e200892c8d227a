import { BinaryHeap } from "./binary-heap.ts";
import type { Entry } from "./entry.ts";

interface Chain {
  oldest: Entry;
  youngest: Entry;
}

interface Wait {
  readonly entry: Entry;
  readonly dueAt: number;
}

const byNumber = (entry: Entry): number => entry.number;

/**
 * Which of the oldest unfinished records of a lane may be lent: those that are due, and of an ordering key none before
 * the older ones. Entries stay until they are finished, lent ones too, and are added in the order of their numbers.
 */
export class LaneQueue {
  readonly #entries = new Map<number, Entry>();
  /** Entries that were lent by name and given back before their turn came: only here is told how long they wait. */
  readonly #beyond = new Map<number, Entry>();
  readonly #keys = new Map<string, Chain>();
  // Entries that have left their place in another way are still in here, and passed over.
  readonly #ready = new BinaryHeap(byNumber);
  readonly #waiting = new BinaryHeap((wait: Wait) => wait.dueAt);

  get size(): number {
    return this.#entries.size;
  }

  get(number: number): Entry | undefined {
    return this.#entries.get(number) ?? this.#beyond.get(number);
  }

  add(entry: Entry, now: number): void {
    this.#entries.set(entry.number, entry);
    if (entry.key !== undefined) this.#chain(entry, entry.key);
    if (entry.place !== "lent") this.#queue(entry, now);
  }

  /** Adds to `taken` what may be lent, oldest first, up to `limit` in all; of one key several, in their order. */
  take(taken: Entry[], limit: number, now: number): void {
    this.#wake(now);
    const followers = new BinaryHeap(byNumber);
    const follow = ({ younger }: Entry): void => {
      if (younger?.place === "behind" && younger.dueAt <= now) followers.push(younger);
    };
    for (const entry of taken) follow(entry);
    while (taken.length < limit) {
      const entry = this.#oldestOf(followers);
      if (entry === undefined) break;
      entry.place = "lent";
      taken.push(entry);
      follow(entry);
    }
  }

  /** Back into its place; it may be lent again when it is due. */
  giveBack(entry: Entry, now: number): void {
    entry.place = "behind";
    if (this.#entries.get(entry.number) === entry) this.#queue(entry, now);
    else this.#beyond.set(entry.number, entry);
  }

  remove(entry: Entry, now: number): void {
    this.#beyond.delete(entry.number);
    if (this.#entries.get(entry.number) !== entry) return;
    this.#entries.delete(entry.number);
    if (entry.key === undefined) return;
    const next = this.#unchain(entry, entry.key);
    if (next?.place === "behind") this.#queue(next, now);
  }

  /** The ordering keys whose oldest record is not due yet, each with that record. */
  *blockedKeys(now: number): Generator<readonly [key: string, oldest: Entry]> {
    for (const [key, { oldest }] of this.#keys) if (oldest.place !== "lent" && oldest.dueAt > now) yield [key, oldest];
  }

  /** One that is behind another of its key stays there. */
  #queue(entry: Entry, now: number): void {
    if (entry.older !== undefined) return;
    if (entry.dueAt > now) {
      entry.place = "waiting";
      this.#waiting.push({ entry, dueAt: entry.dueAt });
    } else {
      entry.place = "ready";
      this.#ready.push(entry);
    }
  }

  #wake(now: number): void {
    for (let wait = this.#waiting.peek(); wait !== undefined && wait.dueAt <= now; wait = this.#waiting.peek()) {
      this.#waiting.pop();
      const { entry, dueAt } = wait;
      if (entry.place === "waiting" && entry.dueAt === dueAt && this.#entries.has(entry.number))
        this.#queue(entry, now);
    }
  }

  #oldestOf(followers: BinaryHeap<Entry>): Entry | undefined {
    for (let top = this.#ready.peek(); top !== undefined; top = this.#ready.peek()) {
      if (top.place === "ready" && this.#entries.get(top.number) === top) break;
      this.#ready.pop();
    }
    const ready = this.#ready.peek();
    const follower = followers.peek();
    if (follower !== undefined && (ready === undefined || follower.number < ready.number)) return followers.pop();
    return this.#ready.pop();
  }

  #chain(entry: Entry, key: string): void {
    const chain = this.#keys.get(key);
    entry.older = chain?.youngest;
    entry.younger = undefined;
    if (chain === undefined) {
      this.#keys.set(key, { oldest: entry, youngest: entry });
    } else {
      chain.youngest.younger = entry;
      chain.youngest = entry;
    }
  }

  /** Returns the entry that is the oldest of its key now, if it was not before. */
  #unchain(entry: Entry, key: string): Entry | undefined {
    const { older, younger } = entry;
    const chain = this.#keys.get(key) as Chain;
    if (older === undefined && younger === undefined) {
      this.#keys.delete(key);
      return undefined;
    }
    if (older === undefined) chain.oldest = younger as Entry;
    else older.younger = younger;
    if (younger === undefined) chain.youngest = older as Entry;
    else younger.older = older;
    return older === undefined ? younger : undefined;
  }
}
