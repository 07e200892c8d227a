import type { OutboxStatus } from "@bridge/ports";
import { isForgotten } from "./forgotten.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { BY_ENTRY, BY_ID } from "./outbox-table.ts";
import { type StoredRecord, storedRecord } from "./record-item.ts";

/** The record of an id, as it stands; `undefined` when there is none that counts. */
export async function findRecord(
  parts: OutboxParts,
  id: string,
  signal: AbortSignal,
): Promise<StoredRecord | undefined> {
  const { items, keys, groups } = parts;
  if (id === "") return undefined;
  const known = keys.get(id);
  const candidates = known === undefined ? await keysIn(parts, BY_ID, "id", id, signal) : [known];
  for (const key of candidates) {
    const item = await items.get(key, signal);
    const stored = item === undefined ? undefined : storedRecord(item);
    if (stored === undefined || stored.id !== id || isForgotten(parts, stored)) continue;
    if ((await groups.states([stored.group], signal))(stored.group) === "closed") return stored;
  }
  return undefined;
}

export async function status(parts: OutboxParts, id: string, signal: AbortSignal): Promise<OutboxStatus | undefined> {
  return (await findRecord(parts, id, signal))?.status;
}

export async function redriving(parts: OutboxParts, entryId: string, signal: AbortSignal): Promise<string | undefined> {
  if (entryId === "") return undefined;
  const keys = await keysIn(parts, BY_ENTRY, "entry_id", entryId, signal);
  const found = await parts.items.read(keys, signal);
  const states = await parts.groups.states(
    [...found.values()].map((item) => item["group"]?.S),
    signal,
  );
  for (const item of found.values()) {
    const stored = storedRecord(item);
    if (stored.status === "pending" && states(stored.group) === "closed") return stored.id;
  }
  return undefined;
}

async function keysIn(
  { items }: OutboxParts,
  index: string,
  attribute: string,
  value: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const page = await items.page({ index, partition: [attribute, value], limit: 100 }, signal);
  return page.items.map((item) => item["pk"]?.S ?? "");
}
