import { isForgotten } from "./forgotten.ts";
import type { LaneWindow, Waiting } from "./lane-window.ts";
import { recordKeyOf, tagOf } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { storedRecord } from "./record-item.ts";
import { isWhole } from "./spoiled-records.ts";

/** Lines of which nothing is known are looked up so many at a time. */
const LEARN = 100;

/**
 * Chooses what may be lent, as far as is known, and marks it as busy; of records with a key only those whose turn it is.
 * They come in the order of their places, those of a key in the order of the key.
 */
export async function pick(
  parts: OutboxParts,
  window: LaneWindow,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Waiting[]> {
  const picked: Waiting[] = [];
  const barred = new Set<string>();
  try {
    while (picked.length < limit) {
      const chosen = choose(window, limit - picked.length, barred, parts.clock.monotonic());
      if (chosen.length === 0) break;
      for (const record of chosen) record.busy = true;
      const allowed = await inTurn(parts, window, chosen, barred, signal).catch((error: unknown) => {
        for (const record of chosen) record.busy = false;
        throw error;
      });
      picked.push(...allowed);
      for (const record of chosen) record.busy = allowed.includes(record);
      if (allowed.length === chosen.length) break;
    }
    return picked;
  } catch (error) {
    for (const record of picked) record.busy = false;
    throw error;
  }
}

function choose(window: LaneWindow, limit: number, barred: ReadonlySet<string>, now: number): readonly Waiting[] {
  const chosen: Waiting[] = [];
  const waits = new Map<string, Waiting>();
  for (const record of window.candidates()) {
    if (chosen.length >= limit) break;
    const { stored, order } = record;
    const tag = order === undefined ? undefined : tagOf(order.line);
    const before = tag === undefined ? undefined : waits.get(tag);
    if (before !== undefined) {
      if (isWithOthers(before)) window.blockers.add(before);
    } else if (stored === undefined || record.busy || record.readyAt > now) {
      if (tag !== undefined) waits.set(tag, record);
    } else if (tag === undefined || !barred.has(tag)) {
      chosen.push(record);
    }
  }
  return chosen;
}

/** Others have it, as far as is known: only they know when that ends. */
function isWithOthers({ ours, busy, stored }: Waiting): boolean {
  return !ours && !busy && stored?.hold?.kind === "lent";
}

async function inTurn(
  parts: OutboxParts,
  window: LaneWindow,
  chosen: readonly Waiting[],
  barred: Set<string>,
  signal: AbortSignal,
): Promise<readonly Waiting[]> {
  const { orders } = parts;
  const keyed = chosen.flatMap((record) => (record.order === undefined ? [] : { record, order: record.order }));
  if (keyed.length === 0) return chosen;
  await orders.refresh(
    keyed.map(({ order }) => order),
    signal,
  );
  const passed = await learn(parts, window, keyed, signal);
  const turns = new Map<string, Waiting[]>();
  const allowed = new Set<string>();
  const inOrder = keyed
    .map(({ record, order }) => ({ record, line: order.line, tag: tagOf(order.line), before: orders.before(order) }))
    .toSorted((a, b) => a.before.length - b.before.length);
  for (const { record, line, tag, before } of inOrder) {
    const older = before.find((other) => !passed.has(other) && !allowed.has(other));
    if (older === undefined && !barred.has(tag)) {
      allowed.add(line);
      const turn = turns.get(tag);
      if (turn === undefined) turns.set(tag, [record]);
      else turn.push(record);
    } else {
      barred.add(tag);
      const blocker = older === undefined ? undefined : window.find(recordKeyOf(older));
      if (blocker !== undefined && isWithOthers(blocker)) window.blockers.add(blocker);
    }
  }
  return chosen.flatMap((record) => {
    if (record.order === undefined) return record;
    return turns.get(tagOf(record.order.line))?.shift() ?? [];
  });
}

/** Looks up the older lines of which nothing is known. Returns those that do not count yet, and need not be waited for. */
async function learn(
  parts: OutboxParts,
  window: LaneWindow,
  keyed: readonly { readonly order: { readonly item: string; readonly line: string } }[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { orders, items, groups } = parts;
  const passed = new Set<string>();
  const pending = new Set<string>();
  for (;;) {
    const unknown = new Set<string>();
    for (const { order } of keyed) {
      for (const line of orders.before(order)) {
        if (unknown.size >= LEARN) break;
        if (!passed.has(line) && !pending.has(line) && !isKnown(window, line)) unknown.add(line);
      }
    }
    if (unknown.size === 0) return passed;
    const found = await items.read([...unknown].map(recordKeyOf), signal);
    const states = await groups.states(
      [...found.values()].map((item) => item["group"]?.S),
      signal,
    );
    for (const line of unknown) {
      const item = found.get(recordKeyOf(line));
      const stored = item === undefined ? undefined : storedRecord(item);
      const state = states(stored?.group);
      if (
        stored?.status !== "pending" ||
        stored.order?.line !== line ||
        isForgotten(parts, stored) ||
        state === "aborted"
      ) {
        orders.over(line);
      } else if (state === "open") {
        passed.add(line);
      } else if (!isWhole(stored)) {
        parts.spoiled.found(parts, window, stored);
      } else {
        pending.add(line);
        if (window.find(stored.key)?.busy !== true) window.arrived(stored);
      }
    }
  }
}

/** Whether the record is in mind under this very line: a message that was persisted again has lines that are void. */
function isKnown(window: LaneWindow, line: string): boolean {
  const known = window.find(recordKeyOf(line));
  return known?.order?.line === line && (known.stored !== undefined || known.busy);
}
