import type { DeadLetterOrder, DeadLetterPosition } from "@bridge/ports";
import { idInCursor } from "./cursor-id.ts";

/** A place in a list of dead letters, and which way it is read from there. */
export interface DlqCursor {
  readonly order: DeadLetterOrder;
  /** Towards the beginning of the list. */
  readonly back: boolean;
  /** Absent: from the end that one comes from. */
  readonly after?: DeadLetterPosition | undefined;
}

const LETTERS = { oldest: "o", newest: "n" } as const satisfies Record<DeadLetterOrder, string>;
export const REVERSE = { oldest: "newest", newest: "oldest" } as const satisfies Record<
  DeadLetterOrder,
  DeadLetterOrder
>;
/** The version, the order, the way, and after what: somebody may have put any number and any text there. */
const TEXT = /^1\|([on])\|([fb])(?:\|(-?\d{1,20}(?:\.\d{1,20})?)\|(.*))?$/s;
const MAX_LENGTH = 4_096;

/** Opaque to clients: it may say something else in another version. */
export function cursorToWire({ order, back, after }: DlqCursor): string {
  const place = after === undefined ? "" : `|${after.failedAt}|${idInCursor(after.id, back ? REVERSE[order] : order)}`;
  return Buffer.from(`1|${LETTERS[order]}|${back ? "b" : "f"}${place}`, "utf8").toString("base64url");
}

/** `undefined` when it is none. */
export function cursorFromWire(wire: string): DlqCursor | undefined {
  if (wire.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(wire, "base64url");
  const [, letter, way, failedAt, id] = TEXT.exec(bytes.toString("utf8")) ?? [];
  // Of several spellings that the platform reads as one, only ours is a cursor.
  if (letter === undefined || bytes.toString("base64url") !== wire) return undefined;
  return {
    order: letter === "o" ? "oldest" : "newest",
    back: way === "b",
    ...(failedAt !== undefined && id !== undefined && { after: { failedAt: Number(failedAt), id } }),
  };
}
