import { LEAST_TELLTALE, TELLTALE } from "./check/hidden-values.ts";
import { REDACTED } from "./redacted.ts";

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const LETTERS = /^\p{L}+$/u;
const WORD = /[\p{L}\p{N}_]/u;
/** Every machine is called that by itself: it gives nothing away. */
const ITSELF = /^(?:127\.0\.0\.1|\[::1\]|0\.0\.0\.0|localhost)(?::\d*)?(?=\/|$)/;

/** Takes values out of texts that somebody else has written: errors of clients and servers, lines of the log. */
export class Veil {
  /** Of longer values: so much of one gives it away, wherever it stands. */
  readonly #pieces = new Set<string>();
  readonly #wholes = new Set<string>();

  constructor(values: Iterable<string>) {
    for (const value of values) for (const part of partsOf(value)) this.#add(part);
  }

  /** `text` with a mark in place of whatever gives a value away. */
  over(text: string): string {
    const covered = new Uint8Array(text.length);
    let found = false;
    const cover = (start: number, end: number): void => void ((found = true), covered.fill(1, start, end));
    for (let start = 0; start + TELLTALE <= text.length && this.#pieces.size > 0; start++) {
      if (this.#pieces.has(text.slice(start, start + TELLTALE))) cover(start, start + TELLTALE);
    }
    for (const whole of this.#wholes) {
      for (let start = text.indexOf(whole); start !== -1; start = text.indexOf(whole, start + whole.length)) {
        const end = start + whole.length;
        // A short one stands in other words by chance.
        if (whole.length > TELLTALE || standsAlone(text, start, end)) cover(start, end);
      }
    }
    return found ? marked(text, covered) : text;
  }

  #add(part: string): void {
    this.#wholes.add(part);
    for (let start = 0; start + TELLTALE <= part.length && part.length > TELLTALE; start++) {
      const piece = part.slice(start, start + TELLTALE);
      // Mere letters are a word, which others use, too.
      if (!LETTERS.test(piece)) this.#pieces.add(piece);
    }
  }
}

/**
 * The value without what any URL begins with, and the host of one, which is told by itself when it cannot be reached.
 */
function partsOf(value: string): readonly string[] {
  const scheme = SCHEME.exec(value)?.[0] ?? "";
  const host = scheme === "" || !URL.canParse(value) ? "" : new URL(value).hostname;
  return [value.slice(scheme.length), host]
    .map((part) => part.replace(ITSELF, ""))
    .filter((part) => part.length >= LEAST_TELLTALE);
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !WORD.test(text[start - 1] ?? "") && !WORD.test(text[end] ?? "");
}

function marked(text: string, covered: Uint8Array): string {
  let shown = "";
  for (let at = 0; at < text.length; at++) {
    if (covered[at] === 0) shown += text[at];
    else if (at === 0 || covered[at - 1] === 0) shown += REDACTED;
  }
  return shown;
}
