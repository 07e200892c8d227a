/**
 * How far a receiver has come in its stream: where an ephemeral consumer begins that is made anew because the server has
 * forgotten the last one, and with it what was not settled.
 */
export class Position {
  /** When the stream was made: in another one of its name, places mean other messages. */
  #streamCreated = "";
  /** Behind the last message that was handed out; 0 when none was. */
  #next = 0;
  /** Released, and not handed out again since. At most what the consumer lets wait. */
  readonly #released = new Set<number>();
  /** Not settled when its connection was lost. */
  #unsettled: readonly number[] = [];

  handedOut(sequence: number): void {
    this.#next = Math.max(this.#next, sequence + 1);
    this.#released.delete(sequence);
  }

  released(sequence: number): void {
    this.#released.add(sequence);
  }

  /** The connection is lost, and these were not settled on it. */
  lost(unsettled: Iterable<number>): void {
    this.#unsettled = [...unsettled];
  }

  /** The first message that is not settled in the stream made at `created`; `undefined` when nothing is known of it. */
  in(created: string): number | undefined {
    if (created !== this.#streamCreated) {
      this.#streamCreated = created;
      this.#next = 0;
      this.#released.clear();
      this.#unsettled = [];
    }
    if (this.#next === 0) return undefined;
    let first = this.#next;
    for (const sequence of this.#released) first = Math.min(first, sequence);
    for (const sequence of this.#unsettled) first = Math.min(first, sequence);
    return first;
  }
}
