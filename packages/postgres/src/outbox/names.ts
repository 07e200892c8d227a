import { hash } from "node:crypto";
import type { OutboxPlace, OutboxRecord } from "@bridge/ports";
import { recordIdentity } from "@bridge/ports/internal";

const HASH_BYTES = 16;

/** Stands for a text of any length in an index: the first half of its SHA-256, as the server's type `uuid`. */
export function shortHash(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, HASH_BYTES);
}

/** The column `place`. */
export function placeHash({ routeId, bindingId }: OutboxPlace): Buffer {
  return shortHash(JSON.stringify([routeId, bindingId]));
}

/** What there can be one record of. */
export function identityOf(record: OutboxRecord): Buffer {
  return shortHash(JSON.stringify([record.routeId, record.bindingId, recordIdentity(record)]));
}

/** A loan's token as a drain has it: it names the record, by its place and number, and the claim that lent it. */
export interface TokenParts {
  /** As the server writes it. */
  readonly place: string;
  readonly number: number;
  readonly loan: string;
}

/** Of a place as the server writes it. */
export function placeBytes(place: string): Buffer {
  return Buffer.from(place.replaceAll("-", ""), "hex");
}

export function tokenOf({ place, number, loan }: TokenParts): string {
  return `${place}:${number}:${loan}`;
}

const TOKEN = /^(?<place>[0-9a-f-]{36}):(?<number>\d{1,15}):(?<loan>.+)$/;

/** `undefined` for what no claim has given out. */
export function partsOfToken(token: string): TokenParts | undefined {
  const { place = "", number, loan } = TOKEN.exec(token)?.groups ?? {};
  return loan === undefined ? undefined : { place, number: Number(number), loan };
}
