import { hash } from "node:crypto";
import type { OutboxPlace } from "@bridge/ports";

const HASH_BYTES = 16;

/** Stands for a text of any length in an index: the first half of its SHA-256, as the server's type `uuid`. */
export function shortHash(text: string): Buffer {
  return hash("sha256", text, "buffer").subarray(0, HASH_BYTES);
}

/** What there can be one record of. */
export function identityOf({ routeId, bindingId }: OutboxPlace, envelopeId: string): Buffer {
  return shortHash(JSON.stringify([routeId, bindingId, envelopeId]));
}

/** A loan's token as a drain has it: it names the record, and the claim that lent it. */
export interface TokenParts {
  readonly number: number;
  readonly loan: string;
}

export function tokenOf({ number, loan }: TokenParts): string {
  return `${number}:${loan}`;
}

const TOKEN = /^(?<number>\d{1,15}):(?<loan>.+)$/;

/** `undefined` for what no claim has given out. */
export function partsOfToken(token: string): TokenParts | undefined {
  const { number, loan } = TOKEN.exec(token)?.groups ?? {};
  return loan === undefined ? undefined : { number: Number(number), loan };
}
