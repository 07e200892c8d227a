import { BridgeError } from "@bridge/ports";
import type { Item } from "../client/batches.ts";
import type { Items } from "./items.ts";
import { tagOf } from "./names.ts";
import { Recent } from "./recent.ts";
import { number, numberIn, type OrderPlace, text } from "./record-item.ts";

/** An item takes 400 KB; from here on the keys in it have to wait until some of their records are finished. */
const MAX_LINES = 6_000;
/** So many lines of finished records are taken out without somebody else's writing there. */
const TRIM_AT = 32;
const REMEMBERED = 50_000;

interface Order {
  readonly version: number;
  readonly lines: readonly string[];
}

/**
 * In which order the records of a key were persisted. Each key has its lines in one item, with other keys; who
 * persists appends to it, so that the table decides who was first, and who asks afterwards sees every line that was
 * written before. Lines of finished records are taken out by the way, when they are known.
 */
export class Orders {
  readonly #items: Items;
  /** As they were seen last. */
  readonly #seen = new Map<string, Order>();
  /** Lines of records that are finished, or will never be. */
  readonly #over = new Recent<string, true>(REMEMBERED);

  constructor(items: Items) {
    this.#items = items;
  }

  /** @throws BridgeError `UNAVAILABLE` when too many records wait with these keys */
  async append(key: string, lines: readonly string[], signal: AbortSignal): Promise<void> {
    const before = this.#seen.get(key);
    if (before !== undefined) {
      const kept = this.#keptOf(before);
      if (kept.length > MAX_LINES) {
        const why = `${kept.length} records wait in the order of one group of ordering keys: more are taken when they are delivered`;
        throw new BridgeError("UNAVAILABLE", why, { charged: false });
      }
      if (await this.#replace(key, before, [...kept, ...lines], signal)) return;
    }
    this.#enter(key, await this.#items.append(key, "lines", lines.map(text), signal));
  }

  /** That these records are finished, or gone, which matters to none behind them any more. */
  over(line: string): void {
    this.#over.set(line, true);
  }

  isOver(line: string): boolean {
    return this.#over.has(line);
  }

  /** Takes out what is known to be over, if it is much and nobody else has written there. */
  async trim(keys: Iterable<string>, signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...new Set(keys)].map(async (key) => {
        const seen = this.#seen.get(key);
        if (seen === undefined) return;
        const kept = this.#keptOf(seen);
        if (seen.lines.length - kept.length >= TRIM_AT) await this.#replace(key, seen, kept, signal);
      }),
    );
  }

  /** Looks anew at the items that have not been seen since these records were entered there. */
  async refresh(places: Iterable<OrderPlace>, signal: AbortSignal): Promise<void> {
    const unseen = new Set<string>();
    for (const { item, line } of places) if (this.#seen.get(item)?.lines.includes(line) !== true) unseen.add(item);
    if (unseen.size > 0) await this.look(unseen, signal);
  }

  /** Looks anew at these items. */
  async look(keys: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const [key, item] of await this.#items.read(keys, signal)) this.#enter(key, item);
  }

  /** The lines of the key before this record's that are not known to be over, oldest first. */
  before({ item, line }: OrderPlace): readonly string[] {
    const tag = tagOf(line);
    const lines = this.#seen.get(item)?.lines ?? [];
    const own = lines.indexOf(line);
    const older = own === -1 ? lines : lines.slice(0, own);
    return older.filter((other) => tagOf(other) === tag && other !== line && !this.#over.has(other));
  }

  /** Lines of the key from this record's on that are not known to be over. */
  depthOf({ item, line }: OrderPlace): number {
    const lines = this.#seen.get(item)?.lines ?? [];
    const behind = lines.slice(lines.indexOf(line) + 1);
    return 1 + behind.filter((other) => tagOf(other) === tagOf(line) && !this.#over.has(other)).length;
  }

  /** The first line of each key that is not known to be over. */
  heads(key: string): readonly string[] {
    const heads = new Map<string, string>();
    for (const line of this.#seen.get(key)?.lines ?? []) {
      if (!this.#over.has(line) && !heads.has(tagOf(line))) heads.set(tagOf(line), line);
    }
    return [...heads.values()];
  }

  #keptOf({ lines }: Order): readonly string[] {
    return lines.filter((line) => !this.#over.has(line));
  }

  async #replace(key: string, before: Order, lines: readonly string[], signal: AbortSignal): Promise<boolean> {
    const version = before.version + 1;
    const change = {
      set: { lines: { L: lines.map(text) }, version: number(version) },
      when: { version: number(before.version) },
    };
    const result = await this.#items.change(key, change, signal);
    if (result.made) this.#seen.set(key, { version, lines });
    else this.#seen.delete(key);
    return result.made;
  }

  /** Never an older version than is known. */
  #enter(key: string, item: Item): void {
    const version = numberIn(item, "version") ?? 0;
    if (version < (this.#seen.get(key)?.version ?? 0)) return;
    this.#seen.set(key, { version, lines: (item["lines"]?.L ?? []).map(({ S = "" }) => S) });
  }
}
