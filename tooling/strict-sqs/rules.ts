import type { SendEntry } from "./wire.ts";
import { invalidParameter, Refusal } from "./refusal.ts";

/** What SQS allows, as its documentation says. */
export const LIMITS = {
  entries: 10,
  messageBytes: 1_048_576,
  attributes: 10,
  hiddenSeconds: 43_200,
  delaySeconds: 900,
  waitSeconds: 20,
  deduplicationSeconds: 300,
} as const;

const REFUSED_CHARACTER = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;
const ENTRY_ID = /^[\w-]{1,80}$/;
const ATTRIBUTE_NAME = /^[\w.-]{1,256}$/;
const GROUP_ID = /^[!-~]{1,128}$/;

/** @throws Refusal when a batch is not one */
export function checkBatch(entries: readonly { readonly Id: string }[]): void {
  if (entries.length === 0) throw new Refusal("EmptyBatchRequest", "There should be at least one entry.");
  if (entries.length > LIMITS.entries) throw new Refusal("TooManyEntriesInBatchRequest", "At most 10 entries.");
  const ids = new Set(entries.map(({ Id }) => Id));
  if (ids.size < entries.length) throw new Refusal("BatchEntryIdsNotDistinct", "Two entries have one id.");
  for (const id of ids)
    if (!ENTRY_ID.test(id)) throw new Refusal("InvalidBatchEntryId", "An entry's id is not allowed.");
}

/** @throws Refusal when a message may not be sent to a queue of that kind */
export function checkMessage(entry: SendEntry, fifo: boolean, maxBytes: number): void {
  if (entry.MessageBody === "" || entry.MessageBody === undefined) throw new Refusal("MissingParameter", "MessageBody");
  if (REFUSED_CHARACTER.test(entry.MessageBody))
    throw new Refusal("InvalidMessageContents", "A character is not allowed.");
  checkAttributes(entry);
  if (sizeOf(entry) > maxBytes) throw invalidParameter(`Message must be shorter than ${maxBytes} bytes.`);
  if (fifo) checkFifo(entry);
  else if (entry.DelaySeconds !== undefined) checkRange("DelaySeconds", entry.DelaySeconds, LIMITS.delaySeconds);
}

export function checkRange(name: string, value: number, max: number, min = 0): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw invalidParameter(`Value ${value} for parameter ${name} is invalid. Reason: Must be between ${min} and ${max}.`);
}

/** Bytes, as SQS counts them. */
export function sizeOf({ MessageBody, MessageAttributes = {} }: SendEntry): number {
  let size = Buffer.byteLength(MessageBody);
  for (const [name, { DataType, StringValue = "", BinaryValue = "" }] of Object.entries(MessageAttributes)) {
    size += name.length + DataType.length + Buffer.byteLength(StringValue) + Buffer.byteLength(BinaryValue, "base64");
  }
  return size;
}

function checkAttributes({ MessageAttributes = {} }: SendEntry): void {
  const attributes = Object.entries(MessageAttributes);
  if (attributes.length > LIMITS.attributes) throw invalidParameter("Number of message attributes exceeds 10.");
  for (const [name, { DataType, StringValue, BinaryValue }] of attributes) {
    const reserved =
      /^(?:aws|amazon)\./i.test(name) || name.startsWith(".") || name.endsWith(".") || name.includes("..");
    if (!ATTRIBUTE_NAME.test(name) || reserved) throw invalidParameter(`The attribute name ${name} is invalid.`);
    if (!/^(?:String|Number|Binary)(?:\.|$)/.test(DataType)) throw invalidParameter(`The type of ${name} is invalid.`);
    const value = DataType.startsWith("Binary") ? BinaryValue : StringValue;
    if (value === undefined || value === "") throw invalidParameter(`The attribute ${name} must contain a value.`);
    if (StringValue !== undefined && REFUSED_CHARACTER.test(StringValue)) {
      throw invalidParameter(`The attribute ${name} has a character that is not allowed.`);
    }
  }
}

function checkFifo({ MessageGroupId, MessageDeduplicationId, DelaySeconds }: SendEntry): void {
  if (MessageGroupId === undefined) throw new Refusal("MissingParameter", "The request must contain MessageGroupId.");
  if (!GROUP_ID.test(MessageGroupId)) throw invalidParameter("MessageGroupId is invalid.");
  if (MessageDeduplicationId !== undefined && !GROUP_ID.test(MessageDeduplicationId)) {
    throw invalidParameter("MessageDeduplicationId is invalid.");
  }
  if (DelaySeconds !== undefined) throw invalidParameter("DelaySeconds is not valid for this queue type.");
}
