import type { Slices } from "./turns.ts";

/** How much text is put together before it becomes bytes. */
const PART_CHARACTERS = 32_768;
const FIRST_BYTES = 65_536;
/** A character of a string has at most so many bytes in UTF-8. */
const MAX_BYTES = 3;

/**
 * The parts one after another, as UTF-8, put together in slices. They become bytes at once: to turn many megabytes of text
 * into bytes at the end would take as long as everything before.
 */
export async function textInSlices(parts: Iterable<string>, slices: Slices): Promise<Uint8Array> {
  let bytes: Buffer | undefined;
  let length = 0;
  let text = "";
  const write = (): void => {
    const needed = length + text.length * MAX_BYTES;
    const room = bytes?.length ?? 0;
    if (bytes === undefined || needed > room) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * room, FIRST_BYTES));
      bytes?.copy(larger, 0, 0, length);
      bytes = larger;
    }
    length += bytes.write(text, length);
    text = "";
  };
  for (const part of parts) {
    text += part;
    if (text.length >= PART_CHARACTERS) write();
    if (slices.over) await slices.next();
  }
  // Most are small, and there are thousands a second of them: each takes the room that it needs.
  if (bytes === undefined) return Buffer.from(text);
  write();
  return bytes.subarray(0, length);
}
