import type { Item } from "../client/batches.ts";
import { BridgeError, type OutboxRecord, type PersistResult } from "@bridge/ports";
import { laneText, recordKey } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { type Placed, place } from "./place-record.ts";
import { fits, itemOf, type StoredRecord, text } from "./record-item.ts";

/** After the first, a try fails only when somebody takes us for crashed. */
const MAX_TRIES = 5;

/** A record that is new in its call. */
interface Addition {
  readonly record: OutboxRecord;
  readonly item: Item;
}

/**
 * Writes records together: each as an item that there can be only once, then the lines in the orders of their keys, then
 * the word that makes them visible. One record without a key needs no such word: its item is it.
 */
export async function persist(
  parts: OutboxParts,
  records: readonly OutboxRecord[],
  signal: AbortSignal,
): Promise<readonly PersistResult[]> {
  const { timeline } = parts;
  const results = new Map<OutboxRecord, PersistResult>();
  const additions: Addition[] = [];
  const firsts = new Map<string, OutboxRecord>();
  for (const record of records) {
    const key = recordKey(record);
    const first = firsts.get(key);
    if (first !== undefined) {
      results.set(record, repeatOf(first, record));
      continue;
    }
    const item = itemOf(record, key, timeline.nextPlace());
    if (fits(item)) {
      firsts.set(key, record);
      additions.push({ record, item });
    } else {
      results.set(record, { kind: "refused", error: tooLarge() });
    }
  }
  const placed = await persistAll(parts, additions, signal);
  for (const [index, { record }] of additions.entries()) {
    const result = placed[index];
    if (result !== undefined) results.set(record, result);
  }
  return records.map((record) => results.get(record) ?? { kind: "conflict" });
}

/** A later record of one call under the identity of an earlier one. */
function repeatOf(first: OutboxRecord, { payloadDigest }: OutboxRecord): PersistResult {
  if (first.payloadDigest !== payloadDigest) return { kind: "conflict" };
  return { kind: "duplicate", id: first.id, status: "pending" };
}

/**
 * First all at once. Who meets somebody that is persisting the same message gives way, and comes again one record after
 * another in the order of their keys, waiting: so nobody waits for one who waits.
 */
async function persistAll(
  parts: OutboxParts,
  additions: readonly Addition[],
  signal: AbortSignal,
): Promise<readonly PersistResult[]> {
  if (additions.length === 0) return [];
  await parts.lanes.enter(new Set(additions.map(({ record }) => laneText(record))), signal);
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const results = await persistOnce(parts, additions, tries === 1 ? placeAtOnce : placeInTurn, signal);
    if (results !== undefined) return results;
  }
  throw new BridgeError("UNAVAILABLE", "others persist the same messages again and again", { charged: false });
}

type Place = (
  parts: OutboxParts,
  items: readonly Item[],
  signal: AbortSignal,
) => Promise<readonly Placed[] | undefined>;

/** `undefined` when it was not made visible: then nothing of it is there. */
async function persistOnce(
  parts: OutboxParts,
  additions: readonly Addition[],
  placeAll: Place,
  signal: AbortSignal,
): Promise<readonly PersistResult[] | undefined> {
  const { groups } = parts;
  const alone = additions.length === 1 && additions.every(({ record }) => record.orderingKey === undefined);
  const group = alone ? undefined : await groups.open(signal);
  try {
    const items = additions.map(({ item }) => (group === undefined ? item : { ...item, group: text(group) }));
    const placed = await placeAll(parts, items, signal);
    if (placed === undefined) {
      if (group !== undefined) await groups.abort(group, signal);
      return undefined;
    }
    const fresh = placed.flatMap(({ result, stored }) => (result.kind === "persisted" ? stored : []));
    if (group !== undefined && fresh.length > 0) {
      await order(parts, fresh, signal);
      if (!(await groups.close(group, signal))) return undefined;
    }
    for (const [index, outcome] of placed.entries()) remember(parts, outcome, additions[index]?.record);
    return placed.map(({ result }) => result);
  } finally {
    if (group !== undefined) groups.leave(group);
  }
}

async function placeAtOnce(
  parts: OutboxParts,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<readonly Placed[] | undefined> {
  const alone = items.length === 1;
  const placed = await Promise.all(items.map((item) => place(parts, item, alone, signal)));
  return placed.every((one) => one !== undefined) ? placed : undefined;
}

async function placeInTurn(
  parts: OutboxParts,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<readonly Placed[] | undefined> {
  const placed = new Map<Item, Placed>();
  for (const item of items.toSorted((a, b) => ((a["pk"]?.S ?? "") < (b["pk"]?.S ?? "") ? -1 : 1))) {
    const one = await place(parts, item, true, signal);
    if (one === undefined) return undefined;
    placed.set(item, one);
  }
  return items.flatMap((item) => placed.get(item) ?? []);
}

/** Enters the records in the orders of their keys, one write for each item, as they came. */
async function order({ orders }: OutboxParts, fresh: readonly StoredRecord[], signal: AbortSignal): Promise<void> {
  const lines = new Map<string, string[]>();
  for (const { order: at } of fresh) {
    if (at === undefined) continue;
    const known = lines.get(at.item);
    if (known === undefined) lines.set(at.item, [at.line]);
    else known.push(at.line);
  }
  await Promise.all([...lines].map(([key, added]) => orders.append(key, added, signal)));
}

function remember({ keys, lanes }: OutboxParts, { result, stored }: Placed, record: OutboxRecord | undefined): void {
  keys.set(stored.id, stored.key);
  if (result.kind === "persisted" && record !== undefined) lanes.of(record).arrived(stored);
}

function tooLarge(): BridgeError {
  const why = "the message is too large for the outbox: with its headers it must fit into an item of DynamoDB, 400 KB";
  return new BridgeError("PAYLOAD_TOO_LARGE", why, { charged: false });
}
