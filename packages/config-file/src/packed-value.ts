import { deserialize, serialize } from "node:v8";
import type { Steps } from "@bridge/ports/internal";
import { isRecord } from "./counterparts.ts";

/** Elements of a list that are unpacked in one step. */
const TOGETHER = 32;
/** Texts that aliases repeat are repeated here: a file of 4 MiB could come to gigabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A plain value as bytes, in parts: as one, that of a thousand routes would be a value again in one long turn. */
export interface PackedValue {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each part ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Each key of a map, with how many parts its list has; `undefined`: no list, and one part. Absent: no map. */
  readonly outline: readonly (readonly [name: string, parts: number | undefined])[] | undefined;
}

/** @throws Error when it takes too many bytes */
export function pack(value: unknown): PackedValue {
  const parts: Uint8Array[] = [];
  const ends: number[] = [];
  let size = 0;
  const add = (part: unknown): void => {
    const bytes = serialize(part);
    size += bytes.length;
    if (size > MAX_BYTES) throw new Error("its aliases unfold to too much: write less of them");
    parts.push(bytes);
    ends.push(size);
  };
  const entries = isRecord(value) ? Object.entries(value) : undefined;
  if (entries === undefined) add(value);
  const outline = entries?.map(([name, part]) => [name, addPart(part, add)] as const);
  return { bytes: joined(parts, size), ends: Uint32Array.from(ends), outline };
}

function addPart(part: unknown, add: (part: unknown) => void): number | undefined {
  if (!Array.isArray(part)) {
    add(part);
    return undefined;
  }
  for (let from = 0; from < part.length; from += TOGETHER) add(part.slice(from, from + TOGETHER));
  return Math.ceil(part.length / TOGETHER);
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The value again, a part a step. */
export function* unpack({ bytes, ends, outline }: PackedValue): Steps<unknown> {
  let [part, start] = [0, 0];
  const next = (): unknown => {
    const end = ends[part++];
    const value: unknown = deserialize(bytes.subarray(start, end));
    start = end ?? start;
    return value;
  };
  if (outline === undefined) return next();
  const entries: [string, unknown][] = [];
  for (const [name, parts] of outline) {
    const list: unknown[] = [];
    for (let left = parts ?? 0; left > 0; left--) {
      list.push(...(next() as unknown[]));
      yield;
    }
    entries.push([name, parts === undefined ? next() : list]);
    yield;
  }
  return Object.fromEntries(entries);
}
