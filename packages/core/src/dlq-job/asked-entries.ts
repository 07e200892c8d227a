import type { DeadLetterHead, DeadLetterPosition } from "@bridge/ports";
import { isBehind } from "./lane-reader.ts";

/**
 * Entries that a purge has asked its store to take and has no answer for: an answer may be lost, and the entry be gone all the same.
 * There are never many more than a page has.
 */
export class AskedEntries {
  readonly #asked = new Map<string, DeadLetterHead>();

  /** Whether none is without an answer. */
  get isEmpty(): boolean {
    return this.#asked.size === 0;
  }

  /** Those that a page, which goes up to there, does not show any more: they are gone, as this job has asked. */
  takeGone(shown: readonly DeadLetterHead[], upTo: DeadLetterPosition | undefined): readonly DeadLetterHead[] {
    const ids = new Set(shown.map(({ id }) => id));
    const gone = [...this.#asked.values()].filter(
      (head) => !ids.has(head.id) && (upTo === undefined || !isBehind(head, upTo)),
    );
    for (const { id } of gone) this.#asked.delete(id);
    return gone;
  }

  /** Returns the ids that had been asked for before. */
  add(heads: readonly DeadLetterHead[]): ReadonlySet<string> {
    const again = new Set(heads.map(({ id }) => id).filter((id) => this.#asked.has(id)));
    for (const head of heads) this.#asked.set(head.id, head);
    return again;
  }

  answered(heads: readonly DeadLetterHead[]): void {
    for (const { id } of heads) this.#asked.delete(id);
  }
}
