/**
 * A confirmation that went to the bridge this short a time before its connection ended may not have been read: on a busy
 * machine a process gets its turn late.
 */
export const UNREAD_MS = 1_000;

/** Why the bridge cannot take note of what it is told: it is stopped, does not get its turn, or its outbox cannot be written. */
export type Hindrance = "paused" | "starved" | "outbox_full";

/**
 * Knows when the bridge could take note of confirmations. One that it could not is as good as none: it may send again, and
 * is right to do so.
 */
export class Doubt {
  readonly #began = new Map<Hindrance, number>();
  #last = { began: Number.NEGATIVE_INFINITY, ended: Number.NEGATIVE_INFINITY };
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begins(hindrance: Hindrance): void {
    if (!this.#began.has(hindrance)) this.#began.set(hindrance, this.#sinceLast());
  }

  ends(hindrance: Hindrance): void {
    const began = this.#began.get(hindrance);
    if (began === undefined) return;
    this.#began.delete(hindrance);
    this.#last = { began, ended: this.#now() };
  }

  /** A connection has ended now: confirmations that were passed on at or after this time are in doubt. */
  since(): number {
    return Math.min(this.#sinceLast(), ...this.#began.values()) - UNREAD_MS;
  }

  /** Whether a confirmation that is passed on now is in doubt without anything else happening. */
  get outboxFull(): boolean {
    return this.#began.has("outbox_full");
  }

  /** Now; or when the last hindrance began, if it has only just ended. */
  #sinceLast(): number {
    const now = this.#now();
    return now - this.#last.ended < UNREAD_MS ? this.#last.began : now;
  }
}
