import { BridgeError, type Clock, type Random } from "@bridge/ports";
import type { Items } from "./items.ts";
import { groupKey } from "./names.ts";
import { Recent } from "./recent.ts";
import { number, text } from "./record-item.ts";

/** `closed`: all of it was persisted. `aborted`: none of it. */
export type GroupState = "open" | "closed" | "aborted";

const CLOSED_FOR_MS = 24 * 3_600_000;
/** Nobody persists for so long; whoever did would find that it has been aborted. */
const UNDECIDED_FOR_MS = 7 * 24 * 3_600_000;
/** A group that is seen open for longer has been left by somebody who has crashed. */
const ABANDONED_MS = 60_000;
const REMEMBERED = 10_000;

/**
 * What is persisted together becomes visible together: its records name their group, and are there once the group's
 * item says that it is closed. That item alone decides: whoever closes it and whoever aborts it ask for it to be open.
 * A closed group's item goes after a day, so a group without an item is closed.
 */
export class Groups {
  readonly #items: Items;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Those that this store is persisting. */
  readonly #own = new Set<string>();
  readonly #maker: string;
  readonly #closed = new Recent<string, true>(REMEMBERED);
  /** When an open one was seen first, in monotonic milliseconds. */
  readonly #openSince = new Recent<string, number>(REMEMBERED);

  constructor(items: Items, clock: Clock, random: Random) {
    this.#items = items;
    this.#clock = clock;
    this.#random = random;
    this.#maker = random.id();
  }

  async open(signal: AbortSignal): Promise<string> {
    const group = `${this.#maker}~${this.#random.id()}`;
    this.#own.add(group);
    const item = { pk: text(groupKey(group)), state: text("open"), expires_at: this.#expiry(UNDECIDED_FOR_MS) };
    const put = await this.#items.put(item, "absent", signal);
    if (!put.made && !put.unsure) throw new BridgeError("UNAVAILABLE", "two groups have one name", { charged: false });
    return group;
  }

  /** Nothing is said of it any more by who made it. */
  leave(group: string): void {
    this.#own.delete(group);
  }

  /** Makes all of it visible; false when somebody has aborted it. */
  async close(group: string, signal: AbortSignal): Promise<boolean> {
    const change = {
      set: { state: text("closed"), expires_at: this.#expiry(CLOSED_FOR_MS) },
      when: { state: text("open") },
    };
    const result = await this.#items.change(groupKey(group), change, signal);
    if (result.made) this.#closed.set(group, true);
    // One that is gone may have been aborted in all that time.
    return result.made || (result.unsure && (await this.#read(group, signal)) === "closed");
  }

  /** Sees to it that an open one is never closed. */
  async abort(group: string, signal: AbortSignal): Promise<void> {
    await this.#items.change(
      groupKey(group),
      { set: { state: text("aborted") }, when: { state: text("open") } },
      signal,
    );
  }

  /** The state of each; aborts what has been open for too long. */
  async states(
    groups: Iterable<string | undefined>,
    signal: AbortSignal,
  ): Promise<(group: string | undefined) => GroupState> {
    const unknown = new Set([...groups].filter((group) => group !== undefined && !this.#closed.has(group)));
    const found = await this.#items.read(
      [...unknown].map((group) => groupKey(group ?? "")),
      signal,
    );
    const states = new Map<string | undefined, GroupState>();
    for (const group of unknown) {
      if (group === undefined) continue;
      const state = stateIn(found.get(groupKey(group)));
      states.set(group, state);
      if (state === "closed") this.#closed.set(group, true);
      if (state === "open" && this.#abandoned(group)) await this.abort(group, signal);
    }
    return (group) => states.get(group) ?? "closed";
  }

  /** Whether this very store made it and is not at it any more. */
  left(group: string): boolean {
    return group.startsWith(`${this.#maker}~`) && !this.#own.has(group);
  }

  #abandoned(group: string): boolean {
    if (this.#own.has(group)) return false;
    const now = this.#clock.monotonic();
    const since = this.#openSince.get(group);
    if (since === undefined) this.#openSince.set(group, now);
    return since !== undefined && now - since >= ABANDONED_MS;
  }

  async #read(group: string, signal: AbortSignal): Promise<GroupState | undefined> {
    const item = await this.#items.get(groupKey(group), signal);
    return item === undefined ? undefined : stateIn(item);
  }

  #expiry(ms: number) {
    return number(Math.ceil((this.#clock.now() + ms) / 1_000));
  }
}

function stateIn(item: { readonly state?: { readonly S?: string | undefined } } | undefined): GroupState {
  const state = item?.state?.S;
  // What somebody has put there instead must not hide a record.
  return state === "open" || state === "aborted" ? state : "closed";
}
