/** Of two halves of 32 bits each; filled by {@link hashId}. */
export interface IdHash {
  high: number;
  low: number;
}

/** No id has more characters; a power of two. */
const MULTIPLIERS = 1_024;
const [HIGH, LOW] = [multipliers(0x9e3779b9), multipliers(0x7f4a7c15)];

/**
 * A 64-bit hash of an id: for each half the sum of its characters, each times a number of its place. So no step waits for the
 * one before, which is what takes the time; and ids that differ in one place never have the same. Called for each leg: it makes no objects.
 */
export function hashId(id: string, into: IdHash): void {
  const { length } = id;
  let high = length;
  let low = length;
  for (let at = 0; at < length; at++) {
    const unit = id.charCodeAt(at) + 1;
    const place = at & (MULTIPLIERS - 1);
    high = (high + Math.imul(unit, HIGH[place] as number)) | 0;
    low = (low + Math.imul(unit, LOW[place] as number)) | 0;
  }
  into.high = high >>> 0;
  into.low = low >>> 0;
}

/** Odd numbers without any pattern, the same in each process. */
function multipliers(seed: number): Int32Array {
  let state = seed;
  return Int32Array.from({ length: MULTIPLIERS }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) | 1;
  });
}
