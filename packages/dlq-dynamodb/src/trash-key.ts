import { atOrAfter, timeIn } from "./order-key.ts";

/** The order key of what is in the trash: those of a batch are together, and by the end of their time. */
export function trashKey(batch: string, until: number): string {
  return `${nameOf(batch)}/${atOrAfter(until)}`;
}

export interface Keys {
  readonly from: string;
  readonly to: string;
}

/** Those of a batch that end after `now`, or all of them. */
export function keysOf(batch: string, now?: number): Keys {
  return { from: now === undefined ? `${nameOf(batch)}/` : trashKey(batch, now + 1), to: `${nameOf(batch)}0` };
}

export function endIn(key: string): number {
  return timeIn(key.slice(key.indexOf("/") + 1));
}

export function isSameBatch(one: string, other: string): boolean {
  return one.split("/", 1)[0] === other.split("/", 1)[0];
}

export function batchIn(key: string): string {
  return decodeURIComponent(key.split("/", 1)[0] ?? "");
}

function nameOf(batch: string): string {
  return encodeURIComponent(batch.toWellFormed());
}
