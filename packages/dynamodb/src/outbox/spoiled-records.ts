import type { StoreHealth } from "@bridge/ports";
import { envelopeIdIn } from "@bridge/ports/internal";
import { finishedNow } from "./finish.ts";
import type { LaneWindow } from "./lane-window.ts";
import { laneText, shardNumber } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { asSeen, number, numberIn, recordIn, type StoredRecord } from "./record-item.ts";

/** No more are told apart: each is in the log. */
const MAX_RECORDS = 10_000;

interface Spoiled {
  readonly stored: StoredRecord;
  readonly lane: string;
}

/**
 * Unfinished records that were found not to be as they were written. They stay in the table, are not lent, and do not hold
 * up others: the next of their key is sent, as behind one that was given up.
 */
export class SpoiledRecords {
  readonly #found = new Map<string, Spoiled>();

  health(): Pick<StoreHealth, "spoiled"> {
    return this.#found.size === 0 ? {} : { spoiled: this.#found.size };
  }

  /** Takes a record out of its lane. */
  found({ orders, logger }: OutboxParts, window: LaneWindow, stored: StoredRecord): void {
    const { key, id, order } = stored;
    const known = window.find(key);
    if (known !== undefined) window.drop(known);
    if (order !== undefined) orders.over(order.line);
    if (this.#found.has(key) || this.#found.size >= MAX_RECORDS) return;
    const { routeId, bindingId } = window.name;
    this.#found.set(key, { stored, lane: laneText(window.name) });
    logger.error("a record of the outbox is not as it was written: it is kept, and not sent", {
      record_id: id,
      route_id: routeId,
      binding_id: bindingId,
      envelope_id: envelopeIdIn(stored.item["envelope"]?.S ?? ""),
    });
  }

  /** It is as it was written again, is finished or is not there any more. */
  over(key: string): void {
    this.#found.delete(key);
  }

  /** Has the lane read its records again: somebody may have mended or deleted them. */
  review(window: LaneWindow): void {
    const lane = laneText(window.name);
    for (const { stored, lane: own } of this.#found.values()) {
      if (own === lane) window.found(stored.key, stored.place, shardNumber(stored.shard));
    }
  }

  /**
   * An operator knows of them: they are ended as dead, and their items keep what there is of them for as long as finished
   * records stay. Returns their ids.
   */
  acknowledge(parts: OutboxParts, signal: AbortSignal): readonly string[] {
    const known = [...this.#found.values()].map(({ stored }) => stored);
    for (const stored of known) void this.#end(parts, stored, signal);
    return known.map(({ id }) => id);
  }

  async #end(parts: OutboxParts, { key, id, item }: StoredRecord, signal: AbortSignal): Promise<void> {
    const change = {
      set: { ...finishedNow(parts, "dead"), revision: number(1) },
      remove: ["shard", "place", "token", "held_ms", "held_by", "held_until", "due_at"],
      when: asSeen(item, ["place"]),
    };
    try {
      await parts.items.change(key, change, signal);
      this.over(key);
    } catch (error) {
      // It is still counted, and may be acknowledged again.
      parts.logger.warn("a spoiled record was not put aside", { record_id: id, error: String(error) });
    }
  }
}

/** Whether an unfinished record can be lent, and is the one that was written. */
export function isWhole({ item }: StoredRecord): boolean {
  // Beyond the safe integers no condition would ever meet a revision.
  const counts = Number.isSafeInteger(numberIn(item, "revision"));
  return item["status"]?.S === "pending" && counts && recordIn(item) !== undefined;
}
