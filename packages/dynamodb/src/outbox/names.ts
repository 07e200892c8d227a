import { hash } from "node:crypto";
import type { OutboxRecord } from "@bridge/ports";
import { recordIdentity } from "@bridge/ports/internal";

/**
 * Into how many partitions of the index each lane is spread. Fixed: an instance that counts otherwise would not see what
 * others have written.
 */
export const SHARDS = 8;
/** Into how many items the orders of a lane's keys are spread; fixed for the same reason. */
const ORDERS = 32;

export const LANES_KEY = "LANES";

/** What goes to one binding of a route. */
export interface LaneName {
  readonly routeId: string;
  readonly bindingId: string;
}

/** A text that stands for names of any length and content; 192 bits, so that nobody finds two with the same. */
function digest(...names: readonly string[]): string {
  return hash("sha256", JSON.stringify(names), "base64url").slice(0, 32);
}

/** The key of the only item that there can be for a message's leg. */
export function recordKey(record: OutboxRecord): string {
  return `R#${digest(record.routeId, record.bindingId, recordIdentity(record))}`;
}

export function groupKey(group: string): string {
  return `G#${group}`;
}

export function laneText({ routeId, bindingId }: LaneName): string {
  return JSON.stringify([routeId, bindingId]);
}

export function laneOfText(text: string): LaneName {
  const [routeId = "", bindingId = ""] = JSON.parse(text) as string[];
  return { routeId, bindingId };
}

export function shardName({ routeId, bindingId }: LaneName, shard: number): string {
  return `${digest(routeId, bindingId)}#${shard}`;
}

export function shardNumber(name: string): number {
  return Number(name.slice(name.lastIndexOf("#") + 1));
}

/** The shard of a record. Records of one ordering key have one, so that a shard has them in their order. */
export function shardOf(key: string, orderingKey: string | undefined): number {
  return numberOf(orderingKey === undefined ? key : digest(orderingKey), SHARDS);
}

/** The item that has the order of a key, with other keys. */
export function orderKey({ routeId, bindingId }: LaneName, orderingKey: string): string {
  return `O#${digest(routeId, bindingId)}#${numberOf(digest("order", orderingKey), ORDERS)}`;
}

export function orderKeysOf(lane: LaneName): readonly string[] {
  return Array.from({ length: ORDERS }, (_, i) => `O#${digest(lane.routeId, lane.bindingId)}#${i}`);
}

const TAG = 8;
const KEY = 32;
const MARK = 6;

/**
 * A record's line in the order of its key: the key, the record, and the group that it was persisted in. Should two keys
 * have one tag, they wait for one another.
 */
export function orderLine(key: string, orderingKey: string, group: string): string {
  return `${digest(orderingKey).slice(0, TAG)}${key.slice(2)}${digest(group).slice(0, MARK)}`;
}

/** What tells the lines of one key from those of others. */
export function tagOf(line: string): string {
  return line.slice(0, TAG);
}

export function recordKeyOf(line: string): string {
  return `R#${line.slice(TAG, TAG + KEY)}`;
}

function numberOf(text: string, below: number): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 8), 16) % below;
}
