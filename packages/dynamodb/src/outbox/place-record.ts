import type { Item } from "../client/batches.ts";
import type { PersistResult } from "@bridge/ports";
import { isForgotten } from "./forgotten.ts";
import type { Condition } from "./items.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { asSeen, type StoredRecord, storedRecord } from "./record-item.ts";

/** How long one waits for somebody else to decide about the same message; a crash leaves nobody to do so. */
const PATIENCE_MS = 10_000;
const LOOK_MS = { first: 25, longest: 800 } as const;

/** What became of one item, and the record that is there. */
export interface Placed {
  readonly result: PersistResult;
  readonly stored: StoredRecord;
}

/**
 * Writes the item of a record where nothing is that counts: what was never closed, or was finished long ago. When somebody
 * else is persisting the same message, `waits` says whether to wait until that is decided. `undefined` when the item's own
 * group must not be closed: it was not waited, or somebody has aborted it.
 */
export async function place(
  parts: OutboxParts,
  item: Item,
  waits: boolean,
  signal: AbortSignal,
): Promise<Placed | undefined> {
  const own = storedRecord(item);
  for (let when: Condition = "absent"; ;) {
    if ((await parts.items.put(item, when, signal)).made) return { result: { kind: "persisted" }, stored: own };
    const there = await decided(parts, own, waits, signal);
    if (there === "undecided") return undefined;
    // The answer to an earlier try was lost.
    if (there?.place === own.place && there.group === own.group) return { result: { kind: "persisted" }, stored: own };
    if (there?.counts === true && !isForgotten(parts, there)) return { result: repeatOf(there, own), stored: there };
    when = there === undefined ? "absent" : asSeen(there.item, ["id", "revision", "group"]);
  }
}

/** The record under the key of one's own, once it is clear whether it counts; `undefined` when there is none. */
async function decided(
  { items, groups, clock, random }: OutboxParts,
  own: StoredRecord,
  waits: boolean,
  signal: AbortSignal,
): Promise<(StoredRecord & { readonly counts: boolean }) | "undecided" | undefined> {
  const startedAt = clock.monotonic();
  for (let lookMs: number = LOOK_MS.first; ; lookMs = Math.min(LOOK_MS.longest, lookMs * 2)) {
    const item = await items.get(own.key, signal);
    if (item === undefined) return undefined;
    const there = storedRecord(item);
    const { group } = there;
    const states = await groups.states([group, own.group], signal);
    if (states(own.group) === "aborted") return "undecided";
    const state = states(group);
    if (state !== "open" || group === undefined || group === own.group) return { ...there, counts: state === "closed" };
    if (groups.left(group) || clock.monotonic() - startedAt >= PATIENCE_MS) await groups.abort(group, signal);
    else if (waits) await clock.delay(lookMs * (1 + random.next()), signal);
    else return "undecided";
  }
}

function repeatOf(there: StoredRecord, own: StoredRecord): PersistResult {
  if (there.payloadDigest !== own.payloadDigest) return { kind: "conflict" };
  return { kind: "duplicate", id: there.id, status: there.status };
}
