/** A change had only asked stores what it would leave behind when a stop was asked for: it has its turn after that. */
export class GaveWay extends Error {
  override readonly name = "GaveWay";
}

/** Stops that are asked for and have not begun. Nothing that is only asked of a store keeps them from their turn. */
export class StopsWaiting {
  #count = 0;
  #come = new AbortController();

  /** Aborted while there is one. */
  get signal(): AbortSignal {
    return this.#come.signal;
  }

  begin(): void {
    this.#count++;
    this.#come.abort(new GaveWay("a stop was asked for"));
  }

  end(): void {
    if (--this.#count === 0) this.#come = new AbortController();
  }
}
