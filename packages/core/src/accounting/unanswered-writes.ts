/** How many given-up writes are remembered: an outbox that stays silent for so long takes no messages either. */
const MAX_LEFT = 10_000;

/**
 * `first`, `repeated`: it is unknown whether the record is in the outbox, or its leg is about to end without it.
 * `drained`, `drained_in_repeat`: it has left the outbox while its first write, or a later one, was unanswered. `out`:
 * it had left before its last write began; `out_again`: and has left once more since. `left`: its leg was given up.
 */
type State = "first" | "repeated" | "drained" | "drained_in_repeat" | "out" | "out_again" | "left";

/**
 * Records that may be in an outbox although no write of them was answered. Such a record may leave the outbox before
 * its answer comes, if it ever does.
 */
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
   * The write is answered: the record was persisted, now (`anew`) or by an earlier try. `again`: a second time, because
   * the store had forgotten it; `out`: it has left the outbox already.
   */
  persisted(recordId: string, anew: boolean): "in" | "again" | "out" {
    const state = this.#states.get(recordId);
    this.#states.delete(recordId);
    if (state === "drained_in_repeat" && anew) {
      // Nobody knows which of the two writes was drained. If another record is left, no leg waits for it.
      this.#leave(recordId);
      return "out";
    }
    if (state === "out" && anew) return "again";
    return state === undefined || isOpen(state) ? "in" : "out";
  }

  /** The leg ends in another way. Returns whether it had already ended with its record. */
  closed(recordId: string): boolean {
    const state = this.#states.get(recordId);
    if (state === undefined || state === "left") return false;
    return this.#states.delete(recordId) && !isOpen(state);
  }

  /**
   * The leg is given up before a write was answered. `theirs`: the outbox is shared, so what leaves it need not be
   * recognised.
   */
  left(recordId: string, theirs: boolean): void {
    if (!isOpen(this.#states.get(recordId))) return;
    this.#states.delete(recordId);
    if (!theirs) this.#leave(recordId);
  }

  /**
   * The record has left the outbox. `leg`: a leg still waits for its answer; `nobodys`: none does any more;
   * `undefined`: its write was answered.
   */
  drained(recordId: string): "leg" | "nobodys" | undefined {
    // Called for every record that is drained.
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
