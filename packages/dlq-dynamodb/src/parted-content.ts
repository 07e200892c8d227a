import type { Item } from "@bridge/dynamodb/internal";

/** Of an item's 400 KiB; the rest is for its key and its name. */
export const PART_BYTES = 396 * 1_024;
/** Far more than the largest message of a transport, by default, with its envelope. */
export const MAX_PARTS = 100;
/** The attribute of an entry that says where its parts are. */
export const PLACE = "content_parts";

/** Stands there when it has none and that was asked. */
export const NO_PARTS = "none";

/** Where the parts of an entry are, if it has any. */
export function partsOf(item: Item | undefined): string | undefined {
  const place = item?.[PLACE]?.S;
  return place === NO_PARTS ? undefined : place;
}

/** What a dead letter has besides what lists show. */
export interface Content {
  readonly envelope: string;
  readonly payload: Uint8Array;
}

/** A content that is too large for its entry's item, in the order of its bytes. */
export interface PartedContent {
  readonly place: string;
  readonly parts: readonly Uint8Array[];
}

/** `token`: no two writers have the same, so that nobody takes away the parts of another. */
export function partedContent(envelope: string, payload: Uint8Array, token: string): PartedContent {
  const text = Buffer.from(envelope);
  const all = Buffer.concat([text, payload]);
  const parts: Uint8Array[] = [];
  for (let start = 0; start < all.length; start += PART_BYTES) parts.push(all.subarray(start, start + PART_BYTES));
  return { place: `${token}/${parts.length}/${text.length}`, parts };
}

/** The content that `parts` are of, in their order; of what is not whole, its entry's digest tells. */
export function contentOf(place: string, parts: readonly Uint8Array[]): Content {
  const all = Buffer.concat(parts);
  const envelopeBytes = Math.min(placeOf(place).envelopeBytes, all.length);
  const payload = new Uint8Array(all.buffer, all.byteOffset + envelopeBytes, all.length - envelopeBytes);
  return { envelope: all.toString("utf8", 0, envelopeBytes), payload };
}

/** The keys of the parts of the entry `id`. They are in no index, and without an order key no entries. */
export function partKeys(id: string, place: string): readonly Item[] {
  const { token, count } = placeOf(place);
  return Array.from({ length: Math.min(count, MAX_PARTS) }, (_, number) => ({ id: { S: `${id}/${token}/${number}` } }));
}

function placeOf(place: string): { readonly token: string; readonly count: number; readonly envelopeBytes: number } {
  const [, token = "", count, envelopeBytes] = /^([^/]*)\/(\d+)\/(\d+)$/.exec(place) ?? [];
  return { token, count: Number(count ?? 0), envelopeBytes: Number(envelopeBytes ?? 0) };
}
