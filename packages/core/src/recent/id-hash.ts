/** Of two halves of 32 bits each; filled by {@link hashId}. */
export interface IdHash {
  high: number;
  low: number;
}

/** Up to here looking at the characters is quicker than copying them. */
const SHORT = 12;
/** No id has more characters, of three bytes each at most. */
const MAX_CHARACTERS = 1_024;
/** To a whole word beyond the last one. */
const bytes = new Uint8Array(MAX_CHARACTERS * 3 + 4);
const words = new Int32Array(bytes.buffer);
const encoder = new TextEncoder();
const [HIGH, LOW] = [multipliers(0x9e3779b9), multipliers(0x7f4a7c15)];

/**
 * A 64-bit hash of an id: for each half the sum of its parts, each times a number of its place. So no step waits for the one before,
 * which is what takes the time, and ids that differ in one part never have the same. Called for each leg: it makes no objects that stay.
 */
export function hashId(id: string, into: IdHash): void {
  if (id.length <= SHORT) byCharacters(id, into);
  else byWords(id, into);
}

function byCharacters(id: string, into: IdHash): void {
  const { length } = id;
  let high = length;
  let low = length;
  for (let at = 0; at < length; at++) {
    const unit = id.charCodeAt(at) + 1;
    high = (high + Math.imul(unit, HIGH[at] as number)) | 0;
    low = (low + Math.imul(unit, LOW[at] as number)) | 0;
  }
  into.high = high >>> 0;
  into.low = low >>> 0;
}

/** Four bytes at a time, each word spread over its bits first: where two words differ in their last bytes, little would be left of that. */
function byWords(id: string, into: IdHash): void {
  const { written } = encoder.encodeInto(id, bytes);
  bytes[written] = bytes[written + 1] = bytes[written + 2] = 0;
  let high = written;
  let low = written;
  for (let at = 0; at * 4 < written; at++) {
    const word = words[at] as number;
    const folded = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
    const spread = folded ^ (folded >>> 13);
    high = (high + Math.imul(spread, HIGH[at] as number)) | 0;
    low = (low + Math.imul(spread, LOW[at] as number)) | 0;
  }
  into.high = high >>> 0;
  into.low = low >>> 0;
}

/** Odd numbers without any pattern, the same in each process. */
function multipliers(seed: number): Int32Array {
  let state = seed;
  return Int32Array.from(words, () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) | 1;
  });
}
