import { createHash } from "node:crypto";
import { GROUP_ID } from "../options.ts";

/** What SQS takes neither in a body nor in an attribute: control characters, halves of characters, U+FFFE and U+FFFF. */
const REFUSED = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;
const EACH_REFUSED = new RegExp(REFUSED, "gu");

/** Whether SQS carries `text` as it is. It carries no empty text. */
export function isCarried(text: string): boolean {
  return text !== "" && !REFUSED.test(text);
}

/** JSON of `value` that SQS carries. */
export function carriedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    EACH_REFUSED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `id` as the id of a group or for deduplication; one that SQS does not allow is replaced by its hash. */
export function carriedId(id: string): string {
  return GROUP_ID.test(id) ? id : sha256(id);
}

/** In hexadecimal digits. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
