/** Of those that were given up, no more are remembered: an outbox that does not answer for so long takes no messages either. */
const MAX_LEFT = 10_000;

/**
 * `first`, `repeated`: nobody knows whether the record is in the outbox, or its leg is about to end without it. `drained`,
 * `drained_in_repeat`: it has come out while its first write, or a later one, was not answered. `out`: it had come out before its last
 * write began; `out_again`: and since. `left`: its leg was given up.
 */
type State = "first" | "repeated" | "drained" | "drained_in_repeat" | "out" | "out_again" | "left";

/** What may be in an outbox although no write of it was answered, and so may come out of it before the answer comes, if one comes. */
export class UnansweredWrites {
  readonly #states = new Map<string, State>();

  /** A write begins, the first one or another. */
  begin(recordId: string): void {
    const state = this.#states.get(recordId);
    if (state === undefined) this.#states.set(recordId, "first");
    else if (state === "first") this.#states.set(recordId, "repeated");
    else if (state === "drained" || state === "drained_in_repeat") this.#states.set(recordId, "out");
  }

  /**
   * The write is answered: the record was persisted, now (`anew`) or by a try before. `again`: for the second time, because the
   * store has forgotten that it had it; `out`: it has come out already.
   */
  persisted(recordId: string, anew: boolean): "in" | "again" | "out" {
    const state = this.#states.get(recordId);
    this.#states.delete(recordId);
    if (state === "drained_in_repeat" && anew) {
      // Which of two writes has come out, nobody knows: if there is another one, it is nobody's.
      this.#leave(recordId);
      return "out";
    }
    if (state === "out" && anew) return "again";
    return state === undefined || isOpen(state) ? "in" : "out";
  }

  /** Its leg ends in another way. Returns whether it had ended with its record already. */
  closed(recordId: string): boolean {
    const state = this.#states.get(recordId);
    if (state === undefined || state === "left") return false;
    return this.#states.delete(recordId) && !isOpen(state);
  }

  /** It is given up before a write was answered. `theirs`: what comes out of the outbox is not known as one's own anyway. */
  left(recordId: string, theirs: boolean): void {
    if (!isOpen(this.#states.get(recordId))) return;
    this.#states.delete(recordId);
    if (!theirs) this.#leave(recordId);
  }

  /** It has come out. `leg`: of a leg that waits for the answer; `nobodys`: of none here any more; `undefined`: it was answered. */
  drained(recordId: string): "leg" | "nobodys" | undefined {
    // Of each record that is drained this is asked.
    const state = this.#states.size === 0 ? undefined : this.#states.get(recordId);
    switch (state) {
      case undefined:
        return undefined;
      case "first":
      case "repeated":
        this.#states.set(recordId, state === "first" ? "drained" : "drained_in_repeat");
        return "leg";
      case "left":
        this.#states.delete(recordId);
        return "nobodys";
      case "drained":
      case "drained_in_repeat":
      case "out":
      case "out_again":
        this.#states.set(recordId, "out_again");
        return "nobodys";
    }
  }

  /** The outbox was closed. A leg that still waits for an answer goes into the next one. */
  forgetLeft(): void {
    for (const [id, state] of this.#states) if (state === "left") this.#states.delete(id);
  }

  #leave(recordId: string): void {
    if (this.#states.size < MAX_LEFT) this.#states.set(recordId, "left");
  }
}

function isOpen(state: State | undefined): boolean {
  return state === "first" || state === "repeated";
}
