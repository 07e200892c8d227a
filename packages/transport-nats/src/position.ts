/** How far the server's consumer has come. */
export interface Progress {
  readonly ack_floor: { readonly stream_seq: number };
  readonly delivered: { readonly stream_seq: number };
  readonly num_ack_pending: number;
}

/** Where a consumer begins that is made in the place of one that is gone. */
export interface Place {
  /** Whether it helps to be {@link told}. */
  readonly inDoubt: boolean;
  handedOut(sequence: number): void;
  released(sequence: number): void;
  /** The connection is lost, and these were not settled on it. */
  lost(unsettled: Iterable<number>): void;
  /** The consumer is there already; `created` is when its stream was made, empty when nobody may ask. */
  resumed(progress: Progress, created: string): void;
  /** The server says how far its consumer has come. */
  told(progress: Progress): void;
  /** The first message that is not settled in the stream made at `created`; `undefined` when there was no consumer before. */
  in(created: string): number | undefined;
  /** A consumer was made that hands out everything from this place on, of the stream made at `created`. */
  began(next: number, created: string): void;
}

/**
 * How far a receiver has come in its stream: where an ephemeral consumer begins that is made anew because the server has
 * forgotten the last one, and with it what was not settled.
 */
export class Position implements Place {
  /** When the stream was made: in another one of its name, places mean other messages. */
  #streamCreated = "";
  /** Behind the last message that was handed out, or the consumer's first place; 0 when there was no consumer yet. */
  #next = 0;
  /** Released, or not settled when their connection was lost, and not handed out again since. */
  readonly #owed = new Set<number>();
  /**
   * What the server had handed out and not seen settled when we came back to it: some of it may never have reached us, and
   * comes again only when its time is over.
   */
  #doubt: { readonly first: number; readonly last: number } | undefined;

  get inDoubt(): boolean {
    return this.#doubt !== undefined;
  }

  handedOut(sequence: number): void {
    this.#next = Math.max(this.#next, sequence + 1);
    this.#owed.delete(sequence);
  }

  released(sequence: number): void {
    this.#owed.add(sequence);
  }

  lost(unsettled: Iterable<number>): void {
    for (const sequence of unsettled) this.#owed.add(sequence);
  }

  /** The consumer has outlived its connection. */
  resumed(progress: Progress): void {
    this.#doubt = { first: 0, last: progress.delivered.stream_seq };
    this.told(progress);
  }

  told({ ack_floor: { stream_seq: settled }, num_ack_pending: pending }: Progress): void {
    // What is settled there and not here has left the stream.
    for (const sequence of this.#owed) if (sequence <= settled) this.#owed.delete(sequence);
    if (this.#doubt === undefined) return;
    const { last } = this.#doubt;
    this.#doubt = pending === 0 || settled >= last ? undefined : { first: settled + 1, last };
  }

  in(created: string): number | undefined {
    if (created !== this.#streamCreated) {
      this.#streamCreated = created;
      this.began(0);
    }
    if (this.#next === 0) return undefined;
    let first = Math.min(this.#next, this.#doubt?.first ?? this.#next);
    for (const sequence of this.#owed) first = Math.min(first, sequence);
    return first;
  }

  began(next: number): void {
    this.#next = next;
    this.#owed.clear();
    this.#doubt = undefined;
  }
}
