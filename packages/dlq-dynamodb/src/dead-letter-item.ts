import type { Item } from "@bridge/dynamodb/internal";
import { BridgeError, type DeadLetter, type DeadLetterHead } from "@bridge/ports";
import { packDeadLetter, unpackDeadLetter, unpackDeadLetterHead } from "@bridge/ports/internal";
import { orderKey } from "./order-key.ts";
import { shardsOf } from "./partitions.ts";

/** What the service lets an item have, names of attributes included. */
const MAX_ITEM_BYTES = 400 * 1024;
/** Less than the service lets a sort key have, of which the id is the end. */
const MAX_ID_BYTES = 1_000;

/** Whether an entry can have this id. The bridge's own ids are 64 hexadecimal digits. */
export function isPossibleId(id: string): boolean {
  return id !== "" && Buffer.byteLength(id) <= MAX_ID_BYTES;
}

/**
 * The item of an entry, which the service may remove after `expiresAt`, in epoch milliseconds.
 *
 * @throws BridgeError `PAYLOAD_TOO_LARGE` when no item can hold it
 */
export function itemOf(entry: DeadLetter, expiresAt: number | undefined): Item {
  const { id, category, routeId, failedAt } = entry;
  if (!isPossibleId(id)) throw tooLarge(`the id of the dead letter is empty or longer than ${MAX_ID_BYTES} bytes`);
  const { head, envelope } = packDeadLetter(entry);
  const item: Item = {
    id: { S: id },
    ...shardsOf(id, category, routeId),
    order_key: { S: orderKey(failedAt, id) },
    head: { S: head },
    envelope: { S: envelope },
    payload: { B: entry.envelope.payload },
    ...(expiresAt !== undefined && { expires_at: { N: String(Math.ceil(expiresAt / 1_000)) } }),
  };
  const bytes = bytesOf(item);
  if (bytes <= MAX_ITEM_BYTES) return item;
  throw tooLarge(`the dead letter has ${bytes} bytes, and an item of the table holds ${MAX_ITEM_BYTES}`);
}

/** Of an item of the table or of one of its indexes. */
export function headOf(item: Item): DeadLetterHead {
  return unpackDeadLetterHead(item["head"]?.S ?? "{}");
}

/** @throws BridgeError when it is not the entry that was written */
export function entryOf(id: string, { head, envelope, payload }: Item): DeadLetter {
  return unpackDeadLetter(id, { head: head?.S ?? "", envelope: envelope?.S ?? "" }, payload?.B ?? new Uint8Array());
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
