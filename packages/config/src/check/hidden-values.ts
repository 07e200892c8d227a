import { type GenericSchema, getMetadata } from "valibot";
import { REDACTED } from "../redacted.ts";
import type { Path } from "../problem.ts";
import { quote } from "../quote.ts";
import { isBlock, partsOf } from "./schema-shape.ts";
import { valueAt } from "./value-at.ts";

/** So many characters of a hidden value in a row, or all of a shorter one, give it away. */
export const TELLTALE = 8;
/** Shorter values turn up in any text by chance. */
export const LEAST_TELLTALE = 4;
const WORD = /\S+/g;
const [SCHEME_END, SCHEME_PART, LETTER] = ["://", /[a-z0-9+.-]/i, /[a-z]/i];

/** What of a document must not be shown: secrets, and everything that came in through a reference. */
export class HiddenValues {
  readonly #document: unknown;
  readonly #paths = new Map<string, Path>();
  readonly #values = new Set<string>();
  readonly #references = new Set<string>();

  constructor(document: unknown) {
    this.#document = document;
  }

  hide(paths: Iterable<Path>): void {
    for (const path of paths) {
      this.#paths.set(JSON.stringify(path), path);
      for (const value of stringsIn(valueAt(this.#document, path))) this.#values.add(value);
    }
  }

  /** The places whose values came in through a reference. */
  hideReferences(paths: Iterable<Path>): void {
    const list = [...paths];
    this.hide(list);
    for (const path of list) this.#references.add(JSON.stringify(path));
  }

  /** Whether the value at exactly `path` came in through a reference. */
  cameIn(path: Path): boolean {
    return this.#references.has(JSON.stringify(path));
  }

  /** The hidden texts that stand in the document itself. */
  *written(): Generator<{ readonly path: Path; readonly text: string }> {
    for (const path of this.#paths.values()) {
      const text = valueAt(this.#document, path);
      if (typeof text === "string" && !this.cameIn(path)) yield { path, text };
    }
  }

  /** Whether the value at `path` lies in a hidden one. */
  covers(path: Path): boolean {
    return this.#paths.size > 0 && path.some((_, index) => this.#paths.has(JSON.stringify(path.slice(0, index + 1))));
  }

  /** What stands at `path`, or else `otherwise`, for a message: short, in one line, without what must not be seen. */
  show(path: Path, otherwise: unknown): string {
    if (this.covers(path)) return REDACTED;
    const value = valueAt(this.#document, path) ?? otherwise;
    if (Array.isArray(value)) return "a list";
    if (isBlock(value)) return "a block of keys";
    if (typeof value !== "string") return String(value);
    return quote(withoutUsers(value));
  }

  /**
   * What a plugin's schema says of the value at `path`, in so far as it may be told; `undefined` when it holds a hidden
   * value, or a good part of one.
   */
  tellable(text: string, path: Path): string | undefined {
    const value = this.covers(path) ? valueAt(this.#document, path) : undefined;
    if (typeof value === "string" && value !== "" && text.includes(value)) return undefined;
    return new Pieces(text).areIn(this.#values) ? undefined : withoutUsers(text);
  }
}

/** Whether a text holds a hidden value, or a good part of one. */
export function quotes(text: string, hidden: string): boolean {
  return new Pieces(text).areIn([hidden]);
}

/** The user parts of URLs often hold a password. Linear, because whoever may write a document may write a long word. */
export function withoutUsers(text: string): string {
  return text.includes(SCHEME_END) ? text.replaceAll(WORD, withoutUser) : text;
}

function withoutUser(word: string): string {
  const user = userStart(word);
  const end = word.lastIndexOf("@");
  return user === undefined || end < user ? word : word.slice(0, user) + REDACTED + word.slice(end);
}

/** Behind the first scheme. */
function userStart(word: string): number | undefined {
  for (let end = word.indexOf(SCHEME_END); end !== -1; end = word.indexOf(SCHEME_END, end + SCHEME_END.length)) {
    for (let at = end - 1; SCHEME_PART.test(word[at] ?? ""); at--) {
      if (LETTER.test(word[at] ?? "")) return end + SCHEME_END.length;
    }
  }
  return undefined;
}

/** The places of all values that `schema` says are secret. */
export function* secretPaths(schema: GenericSchema, value: unknown, path: Path = []): Generator<Path> {
  if (getMetadata(schema)["secret"] === true) {
    yield path;
    return;
  }
  for (const part of partsOf(schema, value)) yield* secretPaths(part.schema, part.value, [...path, ...part.path]);
}

/** What a text would give away of hidden values. */
class Pieces {
  readonly #text: string;
  readonly #pieces = new Set<string>();

  constructor(text: string) {
    this.#text = text;
    for (let start = 0; start + TELLTALE <= text.length; start++) this.#pieces.add(text.slice(start, start + TELLTALE));
  }

  areIn(values: Iterable<string>): boolean {
    for (const value of values) if (this.#shares(value)) return true;
    return false;
  }

  #shares(value: string): boolean {
    if (value.length <= TELLTALE) return value.length >= LEAST_TELLTALE && this.#text.includes(value);
    for (let start = 0; start + TELLTALE <= value.length; start++) {
      if (this.#pieces.has(value.slice(start, start + TELLTALE))) return true;
    }
    return false;
  }
}

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) yield* stringsIn(part);
}
