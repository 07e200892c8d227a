import { quote } from "./quote.ts";
import type { Path, Problem } from "./problem.ts";

/** Where the values of references come from. */
export interface ReferenceSources {
  /** The value of an environment variable; `undefined` when it is not set. */
  env(name: string): string | undefined;
  /** The text of a file. Rejects with a sentence that says why it cannot be read. */
  file(path: string, signal: AbortSignal): Promise<string>;
}

export interface ResolvedDocument {
  /** A copy, with the values in place of the references; a reference that failed stands as it was written. */
  readonly document: unknown;
  /** The places of all strings that hold a reference, resolved or not. */
  readonly fromReference: readonly Path[];
  readonly problems: readonly Problem[];
}

/** A document that is deeper than this, or that holds itself, is refused. */
const MAX_DEPTH = 100;

/**
 * Puts values in place of references. `${env:NAME}` stands for an environment variable and `${file:/path}` for the
 * text of a file without its last line break; either may be the whole of a string or a part of it, and several may
 * stand in one. `$${env:` and `$${file:` stand for `${env:` and `${file:`. Keys hold no references, and a value that
 * came in through one is not looked into again. What is not a string before stays a string after.
 *
 * Rejects only with the signal's reason.
 */
export async function resolveReferences(
  document: unknown,
  sources: ReferenceSources,
  signal: AbortSignal,
): Promise<ResolvedDocument> {
  const resolution = new Resolution(sources, signal);
  return {
    document: await resolution.resolve(document, []),
    fromReference: resolution.fromReference,
    problems: resolution.problems,
  };
}

const REFERENCE = /\$(\$?)\{(env|file):([^{}]*)(\}?)/g;

/** Whether a text as written holds a reference. */
export function holdsReference(text: string): boolean {
  return [...text.matchAll(REFERENCE)].some(([, escape]) => escape === "");
}

class Resolution {
  readonly fromReference: Path[] = [];
  readonly problems: Problem[] = [];
  readonly #sources: ReferenceSources;
  readonly #signal: AbortSignal;
  readonly #files = new Map<string, Promise<string>>();

  constructor(sources: ReferenceSources, signal: AbortSignal) {
    this.#sources = sources;
    this.#signal = signal;
  }

  async resolve(value: unknown, path: Path): Promise<unknown> {
    if (typeof value === "string") return this.#text(value, path);
    if (typeof value !== "object" || value === null) return value;
    if (path.length >= MAX_DEPTH) {
      this.problems.push({ path, message: `is nested more than ${MAX_DEPTH} levels deep` });
      return undefined;
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
    const matches = [...text.matchAll(REFERENCE)];
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
      else resolved += value;
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
      return (await this.#file(name)).replace(/\r?\n$/, "");
    } catch (error) {
      this.#signal.throwIfAborted();
      const why = error instanceof Error ? error.message : "it cannot be read";
      this.problems.push({ path, message: `the file ${quote(name)} cannot be read: ${why}` });
      return undefined;
    }
  }

  /** Each file is read once, so that all places get the same value. */
  #file(path: string): Promise<string> {
    let text = this.#files.get(path);
    if (text === undefined) {
      text = this.#sources.file(path, this.#signal);
      this.#files.set(path, text);
    }
    return text;
  }
}
