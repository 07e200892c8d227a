/** What a text of the server cannot hold: a NUL, and half a surrogate pair; and what stands for them. */
const ODD = /[\0\\\p{Surrogate}]/gu;
const ESCAPED = /\\u([0-9a-f]{4})/g;

/** A text as the server holds it: reversible, and as it is unless it is odd. */
export function storedText(text: string): string {
  return text.replace(ODD, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function textOf(stored: string): string {
  return stored.includes("\\")
    ? stored.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : stored;
}
