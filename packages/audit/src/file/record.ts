import { createHmac, hash as digest } from "node:crypto";
import type { AuditEvent } from "../event.ts";

/** A place in the chain: the number of a record and its hash. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

/** What the first record of all follows. */
export const GENESIS: Link = { seq: 0, hash: "0".repeat(64) };

/** What begins with a record: the chain, or another file of it. */
export type Beginning = "chain" | "file";

/** A line of the file, read. */
export interface ChainRecord extends Link {
  /** The hash of the record before. */
  readonly prev: string;
  /** Whether the hash is an HMAC. */
  readonly keyed: boolean;
  /** Whether it says that a file, or the chain, begins with it. */
  readonly begins: boolean;
  /** What was hashed: the bytes of the line before its last field. */
  readonly hashed: Buffer;
}

const TRAILER = /^,"(hash|hmac)":"([0-9a-f]{64})"\}$/;
const TRAILER_BYTES = 75;
const PLACE = /,"seq":([1-9]\d{0,15}),"prev":"([0-9a-f]{64})"$/;
const PLACE_BYTES = 108;
const BEGINS = /\},"begins":"(?:chain|file)"$/;
const BEGINS_BYTES = 19;

/**
 * The line of an event behind `after`, without its line break: the event's fields, `begins` if something does, `seq`,
 * `prev`, and last `hash`, the SHA-256 of the bytes of the line before that field; with a key `hmac`, their HMAC-SHA-256.
 */
export function seal(
  event: AuditEvent,
  after: Link,
  key: string | undefined,
  begins?: Beginning,
): { line: string; link: Link } {
  const seq = after.seq + 1;
  const beginning = begins === undefined ? "" : `,"begins":"${begins}"`;
  const hashed = `${JSON.stringify(event).slice(0, -1)}${beginning},"seq":${seq},"prev":"${after.hash}"`;
  const hash = hashOf(hashed, key);
  return { line: `${hashed},"${key === undefined ? "hash" : "hmac"}":"${hash}"}`, link: { seq, hash } };
}

/** `undefined` for a line that is no record. Its hash is not checked. */
export function readRecord(line: Buffer): ChainRecord | undefined {
  const end = line.length - TRAILER_BYTES;
  const [, kind, hash] = TRAILER.exec(line.toString("latin1", Math.max(0, end))) ?? [];
  const place = PLACE.exec(line.toString("latin1", Math.max(0, end - PLACE_BYTES), Math.max(0, end)));
  const [text = "", seq, prev] = place ?? [];
  if (hash === undefined || prev === undefined) return undefined;
  const placeAt = end - text.length;
  const begins = BEGINS.test(line.toString("latin1", Math.max(0, placeAt - BEGINS_BYTES), placeAt));
  return { seq: Number(seq), prev, hash, keyed: kind === "hmac", begins, hashed: line.subarray(0, end) };
}

/** Whether the hash of the record is that of its bytes, with one of the keys if it is an HMAC. */
export function isIntact({ hashed, hash, keyed }: ChainRecord, keys: readonly string[]): boolean {
  return keyed ? keys.some((key) => hashOf(hashed, key) === hash) : hashOf(hashed, undefined) === hash;
}

function hashOf(data: string | Uint8Array, key: string | undefined): string {
  return key === undefined ? digest("sha256", data, "hex") : createHmac("sha256", key).update(data).digest("hex");
}
