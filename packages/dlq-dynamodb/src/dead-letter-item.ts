import type { Item } from "@bridge/dynamodb/internal";
import { BridgeError, type DeadLetter, type DeadLetterHead, type Random } from "@bridge/ports";
import { headOrKnown, idIn, marksIn, packDeadLetter, type PackedDeadLetter } from "@bridge/ports/internal";
import { atOrAfter, orderKey, timeIn } from "./order-key.ts";
import { type Content, MAX_PARTS, PART_BYTES, partedContent, type PartedContent, PLACE } from "./parted-content.ts";
import { placeIn, shardsOf } from "./partitions.ts";

/** What the service lets an item have, names of attributes included, without what marks and the trash may add. */
const MAX_ITEM_BYTES = (400 - 16) * 1024;
/** Less than the service lets a sort key have, of which the id is the end. */
const MAX_ID_BYTES = 1_000;
const NOTHING = new Uint8Array();

/** Before the id of a job, in its key. */
export const JOB_PREFIX = "job/";

/** Before the key of an entry of the trash whose id has been written again. */
export const ASIDE_PREFIX = "trash/";

/** The attribute of an item that tells which moves to the trash are aside under its id. */
export const ASIDES = "asides";

/** Whether an entry can have this id. The bridge's own ids are 64 hexadecimal digits. */
export function isPossibleId(id: string): boolean {
  const isOther = id.startsWith(JOB_PREFIX) || id.startsWith(ASIDE_PREFIX);
  return id !== "" && Buffer.byteLength(id) <= MAX_ID_BYTES && !isOther;
}

/** Whether a job can have this id. */
export function isPossibleJobId(id: string): boolean {
  return id !== "" && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

/** Whether an item is an entry, and not a job, in the trash, or what is left of a deleted one. */
export function isEntry(item: Item | undefined, visibleFrom: number): item is Item {
  return item?.["route_shard"] !== undefined && (item["order_key"]?.S ?? "") >= atOrAfter(visibleFrom);
}

/** The condition of that, with `:from`. */
export const IS_ENTRY = "attribute_exists(route_shard) AND order_key >= :from";

/** Whether the entry that an item holds is the one of this id, as far as it says: somebody may have put another one there. */
export function isEntryOf(id: string, item: Item): boolean {
  return idIn(item["head"]?.S ?? "") === id;
}

/** The condition that an item holds no entry, in the trash or out of it, that somebody could miss, with `:from`. */
export const NOT_THERE =
  "(attribute_not_exists(route_shard) AND attribute_not_exists(trash_key)) OR (attribute_exists(route_shard) AND order_key < :from)";

/** What is written of an entry: one item, and what that cannot hold. */
export interface WrittenEntry {
  readonly item: Item;
  /** Envelope and payload, which then are not in the item. */
  readonly content: PartedContent | undefined;
}

/**
 * The item of an entry, which the service may remove after `expiresAt`, in epoch milliseconds.
 *
 * @throws BridgeError `PAYLOAD_TOO_LARGE` when it cannot be kept
 */
export function writtenEntry(entry: DeadLetter, expiresAt: number | undefined, random: Random): WrittenEntry {
  const { id, category, routeId, failedAt } = entry;
  const { payload } = entry.envelope;
  if (!isPossibleId(id))
    throw tooLarge(
      `the id of the dead letter is empty, longer than ${MAX_ID_BYTES} bytes, or begins with "${JOB_PREFIX}" or "${ASIDE_PREFIX}"`,
    );
  const { head, envelope } = packDeadLetter(entry);
  const index: Item = {
    id: { S: id },
    ...shardsOf(id, category, routeId),
    order_key: { S: orderKey(failedAt, id) },
    head: { S: head },
    ...expiry(expiresAt),
  };
  const whole: Item = { ...index, envelope: { S: envelope }, payload: { B: payload } };
  if (bytesOf(whole) <= MAX_ITEM_BYTES) return { item: whole, content: undefined };
  const contentBytes = Buffer.byteLength(envelope) + payload.length;
  if (contentBytes > MAX_PARTS * PART_BYTES)
    throw tooLarge(`the dead letter has ${contentBytes} bytes, and the table keeps ${MAX_PARTS * PART_BYTES} at most`);
  const content = partedContent(envelope, payload, random.id());
  const item: Item = { ...index, [PLACE]: { S: content.place } };
  const bytes = bytesOf(item);
  if (bytes > MAX_ITEM_BYTES)
    throw tooLarge(`what lists show of it has ${bytes} bytes, and an item of the table holds ${MAX_ITEM_BYTES}`);
  return { item, content };
}

/** Of an item of the table or of one of its indexes; the route of one that cannot be read stands only in the index by route. */
export function headOf(item: Item): DeadLetterHead {
  const { id, order_key: order, category_shard: byCategory, route_shard: byRoute, head, marks } = item;
  const { category, routeId } = placeIn(byRoute?.S ?? byCategory?.S ?? "");
  const at = { id: id?.S ?? "", failedAt: timeIn(order?.S ?? ""), category };
  return headOrKnown(byRoute === undefined ? at : { ...at, routeId }, head?.S ?? "", marksIn(marks?.S));
}

/** An entry as its item and `content`, which its parts hold if it has any, have it. */
export function packedOf({ head, envelope, payload }: Item, content?: Content): PackedDeadLetter & Content {
  return { head: head?.S ?? "", ...(content ?? { envelope: envelope?.S ?? "", payload: payload?.B ?? NOTHING }) };
}

/** When the service may remove an item, in epoch milliseconds. */
export function expiry(at: number | undefined): Item {
  return at === undefined ? {} : { expires_at: { N: String(Math.ceil(at / 1_000)) } };
}

/** At least what the service makes of it. */
function bytesOf(item: Item): number {
  let bytes = 0;
  for (const [name, { S: text = "", B: binary, N: number = "" }] of Object.entries(item)) {
    bytes += name.length + Buffer.byteLength(text) + (binary?.length ?? 0) + number.length;
  }
  return bytes;
}

function tooLarge(text: string): BridgeError {
  return new BridgeError("PAYLOAD_TOO_LARGE", text, { charged: false });
}
