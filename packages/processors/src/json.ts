/**
 * JSON that strangers have written, and that is written for strangers: with bounds. @module
 */
import { Refusal } from "./refusal.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A payload as JSON. @throws Refusal `INVALID_PAYLOAD` when it is none */
export function parseJson(payload: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(payload)) as unknown;
  } catch {
    throw new Refusal("INVALID_PAYLOAD", "the payload is not JSON in UTF-8");
  }
}

/** How the expression library marks a function among plain values. */
const FUNCTION_MARKS = ["_jsonata_function", "_jsonata_lambda"] as const;

/**
 * Walks through `value` as `JSON.stringify` would, what stands in several places each time, and stops where its text
 * would get longer than `limit`: making that text is one step, and its memory is not bounded.
 *
 * @throws Refusal `PAYLOAD_TOO_LARGE`; and whatever `onFunction` throws, which is called for each function
 */
export function checkJsonLength(value: unknown, limit: number, onFunction?: () => never): void {
  const waiting: unknown[] = [value];
  let length = 0;
  while (waiting.length > 0) {
    const part = waiting.pop();
    length += 1;
    if (typeof part === "string") length += part.length;
    else if (Array.isArray(part)) for (const element of part) waiting.push(element);
    else if (isFunction(part)) onFunction?.();
    else if (typeof part === "object" && part !== null) {
      for (const [key, member] of Object.entries(part)) {
        length += key.length;
        waiting.push(member);
      }
    }
    if (length + waiting.length > limit) {
      throw new Refusal("PAYLOAD_TOO_LARGE", `makes more than ${limit} characters of JSON`);
    }
  }
}

function isFunction(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "function";
  return FUNCTION_MARKS.some((mark) => Object.hasOwn(value, mark));
}
