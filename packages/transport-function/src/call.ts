import { type Abortable, unwatchAbort, watchAbort } from "@bridge/ports";
import { type Placed } from "@bridge/ports/internal";

/**
 * What a handler is given with a message.
 *
 * Its signal is made when it is asked for. The engine's serves one send after another: a handler that listens to it and
 * never stops would hear of other messages, and be kept for ever.
 */
export class Call implements Placed {
  place = -1;
  readonly #of: AbortSignal;
  #own: AbortController | undefined;
  #watch: Abortable | undefined;
  #ended = false;

  constructor(of: AbortSignal) {
    this.#of = of;
  }

  get signal(): AbortSignal {
    return (this.#own ??= this.#made()).signal;
  }

  /** The handler has returned, or has failed. */
  end(): void {
    this.#ended = true;
    if (this.#watch !== undefined) unwatchAbort(this.#watch);
  }

  /** Nobody waits for the handler any more. */
  giveUp(reason: Error): void {
    (this.#own ??= this.#made()).abort(reason);
  }

  #made(): AbortController {
    const own = new AbortController();
    if (this.#ended) return own;
    const onAbort = (): void => own.abort(this.#of.reason);
    if (this.#of.aborted) onAbort();
    else watchAbort((this.#watch = { signal: this.#of, onAbort }));
    return own;
  }
}
