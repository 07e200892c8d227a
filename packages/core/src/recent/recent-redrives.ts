/** A message as which a dead letter has gone out again. */
export interface RedrivenAs {
  readonly envelopeId: string;
  /** Absent: no job has redriven it. */
  readonly jobId?: string | undefined;
}

/** At least so many messages are remembered, and at most twice as many. */
const KEPT = 10_000;

/** Under which ids dead letters have gone out again, the last ones of this process: by the id of the envelope that failed. */
export class RecentRedrives {
  // The older half goes as a whole: to find its oldest, a map looks over the places of all that went before.
  #young = new Map<string, readonly RedrivenAs[]>();
  #old = new Map<string, readonly RedrivenAs[]>();

  /** The message `original` goes out again as `again`. */
  add(original: string, again: RedrivenAs): void {
    this.#young.set(original, [...this.of(original).slice(-9), again]);
    if (this.#young.size < KEPT) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Oldest first, the last ten. */
  of(original: string): readonly RedrivenAs[] {
    return this.#young.get(original) ?? this.#old.get(original) ?? [];
  }
}
