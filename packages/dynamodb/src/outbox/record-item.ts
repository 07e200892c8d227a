import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Item } from "../client/batches.ts";
import { type OutboxRecord, type OutboxStatus } from "@bridge/ports";
import { ownBytes, type PackedContent, packEnvelope, recordSeal, unpackEnvelope } from "@bridge/ports/internal";
import type { Hold } from "./hold.ts";
import { orderKey, orderLine, shardName, shardOf } from "./names.ts";

/** What AWS lets an item have; room is left for what is added to a record while it is delivered. */
const MAX_ITEM_BYTES = 400 * 1024 - 2_048;

/** No loan and no wait is as long as this: somebody has changed the item. A wait may be as long as a duration can be. */
const LONGEST_MS = { lent: 30 * 86_400_000, waits: 4_000 * 86_400_000 } as const;

/** A record's item, as far as everybody but its reader cares. */
export interface StoredRecord {
  readonly key: string;
  readonly id: string;
  readonly status: OutboxStatus;
  readonly payloadDigest: string;
  /** Goes up with each change. */
  readonly revision: number;
  /** What it was persisted together with; absent when it was alone. */
  readonly group: string | undefined;
  readonly place: string;
  readonly shard: string;
  readonly attempts: number;
  /** Of the loan, whether it has lapsed or not. */
  readonly token: string | undefined;
  readonly hold: Hold | undefined;
  /** Epoch milliseconds. */
  readonly finishedAt: number | undefined;
  readonly order: OrderPlace | undefined;
  /** The item it was read from, with the content when that was read too. */
  readonly item: Item;
}

/** Where the order of a record's key is, and the record's line in it. */
export interface OrderPlace {
  readonly item: string;
  readonly line: string;
}

export function text(value: string): AttributeValue {
  return { S: value };
}

export function number(value: number): AttributeValue {
  return { N: String(value) };
}

/** The item of a new record. Its bytes are a copy: those of a source may change while they are on their way. */
export function itemOf(record: OutboxRecord, key: string, place: string): Item {
  const { envelope, received, orderingKey } = record;
  const entryId = record.entryId === "" ? undefined : record.entryId;
  const payload = ownBytes(envelope.payload);
  const packed = packEnvelope(envelope);
  const packedReceived = received === undefined ? null : packEnvelope(received);
  const receivedPayload =
    received === undefined || received.payload === envelope.payload ? null : ownBytes(received.payload);
  const content = { envelope: packed, received: packedReceived, payload, receivedPayload };
  return {
    pk: text(key),
    id: text(record.id),
    route: text(record.routeId),
    binding: text(record.bindingId),
    status: text("pending"),
    revision: number(0),
    attempts: number(0),
    shard: text(shardName(record, shardOf(key, orderingKey))),
    place: text(place),
    address: text(record.address),
    envelope: text(packed),
    payload: { B: payload },
    seal: { B: recordSeal({ ...record, entryId }, content) },
    digest: text(record.payloadDigest),
    created_at: number(record.createdAt),
    ...(orderingKey !== undefined && { ordering_key: text(orderingKey) }),
    ...(entryId !== undefined && { entry_id: text(entryId) }),
    ...(packedReceived !== null && { received: text(packedReceived) }),
    ...(receivedPayload !== null && { received_payload: { B: receivedPayload } }),
  };
}

/** Whether AWS takes an item of this size: names and values count, numbers with up to 21 bytes. */
export function fits(item: Item): boolean {
  let bytes = 0;
  for (const [name, { S, B }] of Object.entries(item)) {
    bytes += Buffer.byteLength(name) + (S === undefined ? (B?.length ?? 21) : Buffer.byteLength(S));
  }
  return bytes <= MAX_ITEM_BYTES;
}

export function storedRecord(item: Item): StoredRecord {
  const key = item["pk"]?.S ?? "";
  const group = item["group"]?.S;
  const orderingKey = item["ordering_key"]?.S;
  const routeId = item["route"]?.S ?? "";
  const bindingId = item["binding"]?.S ?? "";
  const finished = finishIn(item);
  return {
    key,
    id: item["id"]?.S ?? "",
    status: finished?.status ?? "pending",
    payloadDigest: item["digest"]?.S ?? "",
    revision: numberIn(item, "revision") ?? 0,
    group,
    place: item["place"]?.S ?? "",
    shard: item["shard"]?.S ?? "",
    attempts: numberIn(item, "attempts") ?? 0,
    token: item["token"]?.S,
    hold: holdIn(item),
    finishedAt: finished?.at,
    order:
      orderingKey === undefined || group === undefined
        ? undefined
        : {
            item: orderKey({ routeId, bindingId }, orderingKey),
            line: orderLine(key, orderingKey, group),
          },
    item,
  };
}

/** How a record was finished. Whatever else its item says, it is not: then it is waiting, or spoiled. */
function finishIn(item: Item): { readonly status: OutboxStatus; readonly at: number } | undefined {
  const status = item["status"]?.S;
  const at = numberIn(item, "finished_at");
  return (status === "done" || status === "dead") && at !== undefined ? { status, at } : undefined;
}

function holdIn(item: Item): Hold | undefined {
  const by = item["held_by"]?.S;
  const ms = numberIn(item, "held_ms") ?? 0;
  const kind = item["token"]?.S === undefined ? "waits" : "lent";
  if (by === undefined || ms > LONGEST_MS[kind]) return undefined;
  const until = numberIn(item, "held_until") ?? 0;
  return { kind, ms, by, until, ...(kind === "waits" && { dueAt: numberIn(item, "due_at") }) };
}

/** That an item is the one that was seen: these attributes as they were, whatever is in them. */
export function asSeen(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(
    ["pk", ...names].flatMap((name) => {
      const value = item[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The record of an item with its content; `undefined` when it is not the one that was written. */
export function recordIn(item: Item): OutboxRecord | undefined {
  const { payload, envelope, seal } = item;
  if (payload?.B === undefined || envelope?.S === undefined || seal?.B === undefined) return undefined;
  const content = {
    envelope: envelope.S,
    received: item["received"]?.S ?? null,
    payload: Buffer.from(payload.B),
    receivedPayload: item["received_payload"]?.B === undefined ? null : Buffer.from(item["received_payload"].B),
  };
  try {
    const record = unpacked(item, content);
    return recordSeal(record, content).equals(seal.B) ? record : undefined;
  } catch {
    return undefined;
  }
}

function unpacked(item: Item, { envelope, received, payload, receivedPayload }: PackedContent): OutboxRecord {
  const entryId = item["entry_id"]?.S;
  const orderingKey = item["ordering_key"]?.S;
  return {
    id: item["id"]?.S ?? "",
    routeId: item["route"]?.S ?? "",
    bindingId: item["binding"]?.S ?? "",
    address: item["address"]?.S ?? "",
    envelope: unpackEnvelope(envelope, payload),
    ...(received !== null && { received: unpackEnvelope(received, receivedPayload ?? payload) }),
    payloadDigest: item["digest"]?.S ?? "",
    ...(entryId !== undefined && { entryId }),
    ...(orderingKey !== undefined && { orderingKey }),
    createdAt: numberIn(item, "created_at") ?? 0,
  };
}

/** What the content of a record takes in memory. */
export function contentBytes(item: Item): number {
  return (item["payload"]?.B?.length ?? 0) + (item["received_payload"]?.B?.length ?? 0);
}

export function numberIn(item: Item, name: string): number | undefined {
  const value = item[name]?.N;
  return value === undefined ? undefined : Number(value);
}
