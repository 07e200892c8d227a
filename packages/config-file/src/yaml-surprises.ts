import { type Document, isScalar, Scalar, visit } from "yaml";

/** Something that YAML lets stand and that means something else to most people: `offset` is its place in the text. */
export interface Surprise {
  readonly offset: number;
  readonly message: string;
}

/** Of the text as such. */
export function surpriseIn(text: string): Surprise | undefined {
  const nul = text.indexOf("\0");
  if (nul >= 0) return { offset: nul, message: aboutNul(text) };
  const carriage = text.search(/\r(?!\n)/);
  if (carriage < 0) return undefined;
  return { offset: carriage, message: "a line ends in CR alone: save the file with LF or CRLF" };
}

/** Characters that tell the encoding of a text. */
const PROBE = 256;

/** Every second character of UTF-16 that is read as UTF-8 is 0; anything else is damage. */
function aboutNul(text: string): string {
  const probe = Array.from({ length: Math.min(PROBE, text.length) }, (_, at) => text[at] === "\0");
  const share = (parity: number): number => {
    const own = probe.filter((_, at) => at % 2 === parity);
    return own.filter((isNul) => isNul).length / own.length;
  };
  if (Math.abs(share(0) - share(1)) > 0.5) return "a byte of 0 stands here: save the file as UTF-8, not as UTF-16";
  return "a byte of 0 stands here, which is in no text: the file is damaged, or no YAML: restore a copy of it, or remove the byte";
}

/** Of a key that is written as it is here. */
export function surpriseOfKey(key: unknown): string | undefined {
  if (!isScalar(key) || key.value !== "<<" || key.type !== "PLAIN") return undefined;
  return "merge keys (<<) are not supported: write the keys out, or use an alias as a whole value; a key of this name stands in quotes";
}

/** Has what would be taken for merge keys printed as the names that they are. */
export function quoteMergeKeys(document: Document): void {
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === "<<") key.type = Scalar.QUOTE_DOUBLE;
    },
  });
}

/** Of a value that is written as it is here. */
export function surpriseOfScalar({ value, source, type }: Scalar): string | undefined {
  if (typeof value !== "number" || type !== "PLAIN" || source === undefined) return undefined;
  if (/^[-+]?0\d/.test(source))
    return "a number that begins with 0 could be octal: write it without the 0, with 0o before it, or, when it is a text, in quotes";
  // What the bridge has printed itself is as exact as it was.
  if (/^[-+]?\d+$/.test(source) && !Number.isSafeInteger(value) && String(value) !== source)
    return "this number is too long to be kept exactly: when it is a text, put it in quotes";
  return undefined;
}

/** What stands in the place of a version of YAML that reads `yes` as true and `010` as 8. */
export const OTHER_VERSION = "the document is read as YAML 1.2: remove the line that begins with %YAML";
