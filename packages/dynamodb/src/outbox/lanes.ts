import type { Items } from "./items.ts";
import { LaneWindow } from "./lane-window.ts";
import { type LaneName, LANES_KEY, laneOfText, laneText, SHARDS } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";

/** The lanes that there are, and what this store has in mind of each. The table has a list of them, as no index names them. */
export class Lanes {
  readonly #items: Items;
  readonly #parts: Pick<OutboxParts, "timeline" | "seenAt">;
  readonly #windows = new Map<string, LaneWindow>();
  readonly #entered = new Set<string>();

  readonly #firstShard: number;

  constructor(items: Items, parts: Pick<OutboxParts, "timeline" | "seenAt" | "random">) {
    this.#firstShard = Math.floor(parts.random.next() * SHARDS);
    this.#items = items;
    this.#parts = parts;
  }

  of(name: LaneName): LaneWindow {
    const text = laneText(name);
    let window = this.#windows.get(text);
    if (window === undefined) {
      window = new LaneWindow({ routeId: name.routeId, bindingId: name.bindingId }, this.#parts, this.#firstShard);
      this.#windows.set(text, window);
    }
    return window;
  }

  /** The window that has a record in mind. */
  with(key: string): LaneWindow | undefined {
    for (const window of this.#windows.values()) if (window.find(key) !== undefined) return window;
    return undefined;
  }

  /** Enters lanes in the list before there is anything in them. */
  async enter(texts: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const lane of texts) {
      if (this.#entered.has(lane)) continue;
      await this.#items.include(LANES_KEY, "lanes", lane, signal);
      this.#entered.add(lane);
    }
  }

  async names(signal: AbortSignal): Promise<readonly LaneName[]> {
    const item = await this.#items.get(LANES_KEY, signal);
    return (item?.["lanes"]?.SS ?? []).map(laneOfText);
  }
}
