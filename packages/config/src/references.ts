import { systemClock } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { quote } from "./quote.ts";
import type { Path, Problem } from "./problem.ts";
import type { Surroundings } from "./surroundings.ts";

/** Where the values of references come from, and what else a document is to be seen with. */
export interface ReferenceSources extends Surroundings {
  /** The value of an environment variable; `undefined` when it is not set. */
  env(name: string): string | undefined;
  /** The text of a file. Rejects with a sentence that says why it cannot be read. */
  file(path: string, signal: AbortSignal): Promise<string>;
  /** Further kinds, by the word before the colon: `{ vault }` is asked for `${vault:NAME}`. Default: there are none. */
  readonly others?: ReferenceReaders | undefined;
}

/**
 * Each resolves to the value of a name, or rejects with a sentence that says why there is none and does not quote one.
 */
export type ReferenceReaders = Readonly<Record<string, (name: string, signal: AbortSignal) => Promise<string>>>;

export interface ResolvedDocument {
  /** A copy, with the values in place of the references; a reference that failed stands as it was written. */
  readonly document: unknown;
  /** The places of all strings that hold a reference, resolved or not. */
  readonly fromReference: readonly Path[];
  /** What the references in them stand for. */
  readonly referred: readonly Referred[];
  readonly problems: readonly Problem[];
  /** Whether one of them is that something could not be read, which may be there in a moment. */
  readonly unread: boolean;
}

/** What one reference stands for. */
export interface Referred {
  /** Of the string that holds it. */
  readonly path: Path;
  readonly value: string;
}

/** A document that is deeper than this, or that holds itself, is refused. */
const MAX_DEPTH = 100;

/**
 * Puts values in place of references. `${env:NAME}` stands for an environment variable and `${file:/path}` for the
 * text of a file without its last line break, and so on for what other kinds the sources have; each may be the whole of
 * a string or a part of it, and several may stand in one. `$${env:` and so on stand for `${env:`. Keys hold no
 * references, and a value that came in through one is not looked into again. What is of a kind that the sources do not
 * have is no reference and stays.
 *
 * Rejects only with the signal's reason.
 */
export async function resolveReferences(
  document: unknown,
  sources: ReferenceSources,
  signal: AbortSignal,
  slices: Slices = new Slices(systemClock),
): Promise<ResolvedDocument> {
  const resolution = new Resolution(sources, signal, slices);
  return {
    document: await resolution.resolve(document, []),
    fromReference: resolution.fromReference,
    referred: resolution.referred,
    problems: resolution.problems,
    unread: resolution.unread,
  };
}

const REFERENCE = /\$(\$?)\{([a-z]+):([^{}]*)(\}?)/g;

/** Whether a text as written holds a reference, of whatever kind. */
export function holdsReference(text: string): boolean {
  return referencesIn(text).length > 0;
}

/** The references in a text as written, of whatever kind, as `env:NAME`. */
export function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, escape, kind, name]) => (escape === "" ? [`${kind}:${name}`] : []));
}

/** A text as written without the references in it. */
export function withoutReferences(text: string): string {
  return text.replaceAll(REFERENCE, (whole, escape: string) => (escape === "" ? "" : whole));
}

class Resolution {
  readonly fromReference: Path[] = [];
  readonly referred: Referred[] = [];
  readonly problems: Problem[] = [];
  unread = false;
  readonly #sources: ReferenceSources;
  readonly #signal: AbortSignal;
  readonly #slices: Slices;
  readonly #read = new Map<string, Promise<string>>();

  constructor(sources: ReferenceSources, signal: AbortSignal, slices: Slices) {
    this.#sources = sources;
    this.#signal = signal;
    this.#slices = slices;
  }

  async resolve(value: unknown, path: Path): Promise<unknown> {
    if (typeof value === "string") return this.#text(value, path);
    if (typeof value !== "object" || value === null) return value;
    if (path.length >= MAX_DEPTH) {
      this.problems.push({ path, message: `is nested more than ${MAX_DEPTH} levels deep` });
      return undefined;
    }
    if (this.#slices.over) {
      await this.#slices.next();
      this.#signal.throwIfAborted();
    }
    if (Array.isArray(value)) {
      const copy: unknown[] = [];
      for (const [index, element] of value.entries()) copy.push(await this.resolve(element, [...path, index]));
      return copy;
    }
    const entries: [string, unknown][] = [];
    for (const [key, part] of Object.entries(value)) entries.push([key, await this.resolve(part, [...path, key])]);
    return Object.fromEntries(entries);
  }

  async #text(text: string, path: Path): Promise<string> {
    const matches = [...text.matchAll(REFERENCE)].filter(([, , kind = ""]) => this.#knows(kind));
    if (matches.length === 0) return text;
    let resolved = "";
    let end = 0;
    let failed = false;
    let referring = false;
    for (const match of matches) {
      const [whole, escape, kind = "", name = "", close] = match;
      resolved += text.slice(end, match.index);
      end = match.index + whole.length;
      if (escape !== "") {
        resolved += whole.slice(1);
        continue;
      }
      referring = true;
      const value = close === "" ? undefined : await this.#value(kind, name, path);
      if (close === "") this.problems.push({ path, message: `the reference \${${kind}:… is not closed: add "}"` });
      if (value === undefined) failed = true;
      else {
        resolved += value;
        this.referred.push({ path, value });
      }
    }
    if (referring) this.fromReference.push(path);
    return failed ? text : resolved + text.slice(end);
  }

  async #value(kind: string, name: string, path: Path): Promise<string | undefined> {
    if (name === "") {
      this.problems.push({ path, message: `the reference \${${kind}:} names nothing` });
      return undefined;
    }
    if (kind === "env") {
      const value = this.#sources.env(name);
      if (value === undefined) {
        this.problems.push({
          path,
          message: `the environment variable ${quote(name)} is not set: set it or replace the reference`,
        });
      }
      return value;
    }
    try {
      const text = await this.#once(kind, name);
      return kind === "file" ? text.replace(/\r?\n$/, "") : text;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.unread = true;
      const why = error instanceof Error ? error.message : "it cannot be read";
      const what = kind === "file" ? `the file ${quote(name)}` : `what \${${kind}:…} names, ${quote(name)},`;
      this.problems.push({ path, message: `${what} cannot be read: ${why}` });
      return undefined;
    }
  }

  #knows(kind: string): boolean {
    return kind === "env" || kind === "file" || Object.hasOwn(this.#sources.others ?? {}, kind);
  }

  /** Each is read once, so that all places get the same value. */
  #once(kind: string, name: string): Promise<string> {
    const key = `${kind}:${name}`;
    let text = this.#read.get(key);
    if (text === undefined) {
      const read = kind === "file" ? this.#sources.file.bind(this.#sources) : this.#sources.others?.[kind];
      text = read?.(name, this.#signal) ?? Promise.reject(new Error("nothing reads it"));
      this.#read.set(key, text);
    }
    return text;
  }
}
