/** Of two halves of 32 bits each; filled by {@link hashId}. */
export interface IdHash {
  high: number;
  low: number;
}

/** A 64-bit hash of an id: two of 32 bits, each over all of it, with other multipliers. Called for each leg, so it makes no objects. */
export function hashId(id: string, into: IdHash): void {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let at = 0; at < id.length; at++) {
    const unit = id.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995);
    low ^= low >>> 15;
  }
  into.high = mixed(high) >>> 0;
  into.low = mixed(low) >>> 0;
}

function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
