/** Cuts and changes of one frame, spread over it: each takes a connection. */
const CUTS = 4;
const CHANGES = 6;
/** What a byte may be taken for: nothing, all bits, the sign, the ends of lines. */
const VALUES = [0x00, 0xff, 0x80, 0x7f, 0x0a, 0x20];

/** A frame that is cut off, and with single bytes changed; always the same ones. */
export function* bent(frame: Uint8Array): Generator<Uint8Array> {
  yield frame;
  for (let cut = 0; cut < CUTS; cut++) yield frame.slice(0, Math.floor((frame.length * cut) / CUTS));
  for (let change = 0; change < CHANGES; change++) {
    const changed = frame.slice();
    const at = Math.floor(((frame.length - 1) * change) / Math.max(CHANGES - 1, 1));
    if (at >= 0) changed[at] = VALUES[change % VALUES.length] ?? 0;
    yield changed;
  }
}
