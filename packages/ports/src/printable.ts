/** What moves a terminal's cursor, or changes the order of what it shows: controls, line ends, marks of direction. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** As JSON writes them, so that it stays JSON: a message chooses its ids and headers, and must not write lines of its own. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** {@link printable}, but for the ends of its lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
