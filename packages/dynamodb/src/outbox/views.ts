import { unpackEnvelope } from "@bridge/ports/internal";
import type { BlockedKey, OutboxBacklog, OutboxFilter, OutboxHead, Page } from "@bridge/ports";
import type { Item } from "../client/batches.ts";
import { isForgotten } from "./forgotten.ts";
import { isFree } from "./lend.ts";
import { type LaneName, orderKeysOf, recordKeyOf, shardName, SHARDS } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { BY_PLACE } from "./outbox-table.ts";
import { numberIn, type StoredRecord, storedRecord } from "./record-item.ts";

/** A count reads at most so many pages of 1 MB of each shard: beyond some 40,000 records a lane it is a lower bound. */
const COUNT_PAGES = 2;
/** Of so many keys of a lane it is looked up whether they are blocked. */
const HEADS = 1_000;
const PAGE = 200;
const READ = 100;
const NOTHING = new Uint8Array();

/** One line for each lane that has unfinished records. */
export async function backlog(parts: OutboxParts, signal: AbortSignal): Promise<readonly OutboxBacklog[]> {
  const lines = await Promise.all((await parts.lanes.names(signal)).map((lane) => lineOf(parts, lane, signal)));
  return lines.flatMap((line) => line ?? []);
}

async function lineOf(parts: OutboxParts, lane: LaneName, signal: AbortSignal): Promise<OutboxBacklog | undefined> {
  const depths = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => countOf(parts, shardName(lane, shard), signal)),
  );
  const depth = depths.reduce((sum, count) => sum + count, 0);
  if (depth === 0) return undefined;
  const [oldest] = await list(parts, lane, { limit: 1, offset: 0 }, signal);
  if (oldest === undefined) return undefined;
  return {
    ...lane,
    depth,
    oldestCreatedAt: oldest.createdAt,
    blockedKeys: (await blockedIn(parts, lane, signal)).size,
  };
}

async function countOf({ items }: OutboxParts, shard: string, signal: AbortSignal): Promise<number> {
  let sum = 0;
  let startKey: Item | undefined;
  for (let pages = 0; pages < COUNT_PAGES; pages++) {
    const { count, next } = await items.count({ index: BY_PLACE, partition: ["shard", shard], startKey }, signal);
    sum += count;
    if (next === undefined) break;
    startKey = next;
  }
  return sum;
}

/** Oldest first; of each lane as many keys are looked at as for its {@link backlog}. */
export async function blockedKeys(
  parts: OutboxParts,
  filter: OutboxFilter,
  limit: number,
  signal: AbortSignal,
): Promise<readonly BlockedKey[]> {
  const lanes = await lanesOf(parts, filter, signal);
  const blocked = (await Promise.all(lanes.map((lane) => blockedIn(parts, lane, signal)))).flatMap((of) => [
    ...of.values(),
  ]);
  return blocked
    .toSorted((a, b) => createdAtOf(a) - createdAtOf(b) || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map((stored) => {
      const { routeId, bindingId, orderingKey = "", id, attempts, dueAt, createdAt } = headOf(parts, stored);
      // What was finished out of its turn, and is not known to be, counts too.
      const depth = stored.order === undefined ? 1 : parts.orders.depthOf(stored.order);
      return { routeId, bindingId, orderingKey, depth, oldestId: id, attempts, dueAt, oldestCreatedAt: createdAt };
    });
}

function createdAtOf({ item }: StoredRecord): number {
  return numberIn(item, "created_at") ?? 0;
}

/** The oldest records of blocked keys, by their lines. */
async function blockedIn(
  parts: OutboxParts,
  lane: LaneName,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StoredRecord>> {
  const { orders, items } = parts;
  const keys = orderKeysOf(lane);
  await orders.look(keys, signal);
  const blocked = new Map<string, StoredRecord>();
  let left = HEADS;
  // Behind a line of a finished record there is another head.
  for (let more = true; more && left > 0;) {
    more = false;
    const heads = keys
      .flatMap((key) => orders.heads(key))
      .filter((line) => !blocked.has(line))
      .slice(0, left);
    left -= heads.length;
    const found = await items.read(heads.map(recordKeyOf), signal);
    for (const line of heads) {
      const item = found.get(recordKeyOf(line));
      const stored = item === undefined ? undefined : storedRecord(item);
      if (stored?.status !== "pending" || stored.order?.line !== line) {
        orders.over(line);
        more = true;
      } else if (stored.hold?.kind === "waits" && !isFree(parts, stored, false)) {
        blocked.set(line, stored);
      }
    }
  }
  return blocked;
}

async function lanesOf(
  { lanes }: OutboxParts,
  filter: OutboxFilter,
  signal: AbortSignal,
): Promise<readonly LaneName[]> {
  return (await lanes.names(signal)).filter(
    ({ routeId, bindingId }) =>
      (filter.routeId ?? routeId) === routeId && (filter.bindingId ?? bindingId) === bindingId,
  );
}

/** Unfinished records, oldest first, over all lanes that match. Only a page of them is read. */
export async function list(
  parts: OutboxParts,
  filter: OutboxFilter,
  { limit, offset }: Page,
  signal: AbortSignal,
): Promise<readonly OutboxHead[]> {
  if (limit <= 0) return [];
  const lanes = await lanesOf(parts, filter, signal);
  const shards = lanes.flatMap((lane) => Array.from({ length: SHARDS }, (_, i) => shardName(lane, i)));
  const heads: OutboxHead[] = [];
  let skipped = 0;
  let batch: string[] = [];
  for await (const key of inOrder(parts, shards, signal)) {
    if (skipped < offset) {
      skipped++;
      continue;
    }
    batch.push(key);
    if (batch.length < Math.min(READ, limit - heads.length)) continue;
    heads.push(...(await headsOf(parts, batch, signal)));
    batch = [];
    if (heads.length >= limit) return heads;
  }
  heads.push(...(await headsOf(parts, batch, signal)));
  return heads;
}

interface Shard {
  readonly name: string;
  readonly items: Item[];
  next: Item | undefined;
  ended: boolean;
}

/** The keys of records, oldest first, over several shards. */
async function* inOrder({ items }: OutboxParts, names: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  const shards: Shard[] = names.map((name) => ({ name, items: [], next: undefined, ended: false }));
  for (;;) {
    await Promise.all(
      shards
        .filter((shard) => shard.items.length === 0 && !shard.ended)
        .map(async (shard) => {
          const partition = ["shard", shard.name] as const;
          const page = await items.page({ index: BY_PLACE, partition, limit: PAGE, startKey: shard.next }, signal);
          shard.items.push(...page.items);
          shard.next = page.next;
          shard.ended = page.next === undefined;
        }),
    );
    let first: Shard | undefined;
    for (const shard of shards)
      if (shard.items.length > 0 && (first === undefined || placeOf(shard) < placeOf(first))) first = shard;
    const item = first?.items.shift();
    if (item !== undefined) yield item["pk"]?.S ?? "";
    else if (shards.every(({ ended }) => ended)) return;
  }
}

function placeOf({ items }: Shard): string {
  return items[0]?.["place"]?.S ?? "";
}

async function headsOf(
  parts: OutboxParts,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly OutboxHead[]> {
  const found = await parts.items.read(keys, signal);
  const states = await parts.groups.states(
    [...found.values()].map((item) => item["group"]?.S),
    signal,
  );
  return keys.flatMap((key) => {
    const item = found.get(key);
    const stored = item === undefined ? undefined : storedRecord(item);
    if (stored === undefined || stored.status !== "pending" || isForgotten(parts, stored)) return [];
    return states(stored.group) === "closed" ? headOf(parts, stored) : [];
  });
}

function headOf(parts: OutboxParts, stored: StoredRecord): OutboxHead {
  const { clock, timeline, keys } = parts;
  const { hold, id, item } = stored;
  const orderingKey = item["ordering_key"]?.S;
  const createdAt = numberIn(item, "created_at") ?? 0;
  keys.set(id, stored.key);
  return {
    id,
    routeId: item["route"]?.S ?? "",
    bindingId: item["binding"]?.S ?? "",
    ...aboutOf(item),
    address: item["address"]?.S ?? "",
    orderingKey,
    createdAt,
    dueAt: dueAt(),
    attempts: stored.attempts,
    lent: hold?.kind === "lent" && !isFree(parts, stored, false),
  };

  function dueAt(): number {
    if (hold?.dueAt === undefined) return createdAt;
    if (hold.by !== timeline.name) return hold.dueAt;
    return Math.round(clock.now() + hold.until - clock.monotonic());
  }
}

/** Empty of a record that cannot be read. */
function aboutOf(item: Item): Pick<OutboxHead, "envelopeId" | "subject"> {
  try {
    const { id, subject } = unpackEnvelope(item["envelope"]?.S ?? "", NOTHING);
    return { envelopeId: id, subject };
  } catch {
    return { envelopeId: "", subject: "" };
  }
}
