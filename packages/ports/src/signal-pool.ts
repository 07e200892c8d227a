/** More than this are never in use at once by much; what is beyond is left to the garbage collector. */
const MAX_IDLE = 1_000;

/**
 * Signals of deliveries that end one by one, used again: a controller, and the engine's listener on it, cost a tenth of
 * what an HTTP request costs altogether. One that has aborted is not taken back. To be given back only once the delivery
 * is settled.
 */
export class SignalPool {
  #idle: AbortController[] = [];

  take(): AbortController {
    return this.#idle.pop() ?? new AbortController();
  }

  giveBack(controller: AbortController): void {
    if (!controller.signal.aborted && this.#idle.length < MAX_IDLE) this.#idle.push(controller);
  }

  /** Whoever listens to the idle ones listens no more. */
  clear(): void {
    this.#idle = [];
  }
}
