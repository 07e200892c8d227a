/** The protocol writes the length of names, keys and most properties in one byte. */
export const MAX_SHORT_BYTES = 255;

/** Whether `text` is too long for a name, a key or a property. */
export function isTooLong(text: string): boolean {
  return text.length > MAX_SHORT_BYTES || Buffer.byteLength(text) > MAX_SHORT_BYTES;
}
