import { isForgotten } from "./forgotten.ts";
import type { LaneWindow } from "./lane-window.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { BY_PLACE } from "./outbox-table.ts";
import { contentBytes, storedRecord, text } from "./record-item.ts";
import { isWhole } from "./spoiled-records.ts";

/** An index is behind its table, and clocks are apart: what came in before the place that was reached is found so late. */
const ANEW_MS = 30_000;
/** Keys of one page of one shard; a lane has eight. */
const PAGE = { least: 25, most: 250 } as const;
/** Records that are read at once, and how much of them. */
const READ = 100;
const READ_BYTES = 8 * 1024 * 1024;

/** Looks into these shards of a lane for records that are not known yet; returns those that have more. */
export async function look(
  parts: OutboxParts,
  window: LaneWindow,
  limit: number,
  shards: readonly number[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const now = parts.clock.monotonic();
  if (now - window.startedAt >= ANEW_MS) {
    parts.spoiled.review(window);
    window.lookAnew();
    window.startedAt = now;
  }
  window.lookedAt = now;
  if (window.full) return [];
  const more: number[] = [];
  await Promise.all(
    shards.map(async (shard) => {
      const partition = ["shard", window.shardName(shard)] as const;
      const after = window.lookedTo(shard);
      const size = Math.min(PAGE.most, Math.max(PAGE.least, limit));
      const page = { index: BY_PLACE, partition, limit: size, ...(after !== "" && { after }) };
      const { items, next } = await parts.items.page(page, signal);
      for (const item of items) window.found(item["pk"]?.S ?? "", item["place"]?.S ?? "", shard);
      if (next !== undefined) more.push(shard);
    }),
  );
  return more;
}

/** Reads records of which nothing is known, in their order, and drops those that are not there any more. */
export async function read(parts: OutboxParts, window: LaneWindow, limit: number, signal: AbortSignal): Promise<void> {
  let bytes = 0;
  let left = limit;
  while (left > 0 && bytes < READ_BYTES) {
    const unread = window.unreadRecords(Math.min(left, READ));
    if (unread.length === 0) return;
    const found = await parts.items.read(
      unread.map(({ key }) => key),
      signal,
    );
    const states = await parts.groups.states(
      [...found.values()].map((item) => item["group"]?.S),
      signal,
    );
    for (const record of unread) {
      const item = found.get(record.key);
      const stored = item === undefined ? undefined : storedRecord(item);
      if (window.find(record.key) !== record || record.busy) continue;
      if (stored === undefined || stored.status !== "pending" || isForgotten(parts, stored)) {
        window.drop(record);
        parts.spoiled.over(record.key);
        continue;
      }
      const state = states(stored.group);
      if (state === "closed") {
        bytes += contentBytes(stored.item);
        if (isWhole(stored)) {
          parts.spoiled.over(record.key);
          window.read(record, stored);
        } else {
          parts.spoiled.found(parts, window, stored);
        }
        continue;
      }
      // An open one is found again when the lane is looked through anew.
      window.drop(record);
      if (state === "aborted" && stored.group !== undefined) {
        await parts.items.delete(record.key, { group: text(stored.group), id: text(stored.id) }, signal);
      }
    }
    left -= unread.length;
  }
}
