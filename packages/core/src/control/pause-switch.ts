import { orAborted } from "@bridge/ports/internal";

/** An operator's pause of one route; it outlives the route's parts, which a reload may replace. */
export class PauseSwitch {
  #resumed: PromiseWithResolvers<void> | undefined;

  get paused(): boolean {
    return this.#resumed !== undefined;
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** Resolves when the route is not paused, or `signal` aborts: the caller looks which. */
  async whenResumed(signal: AbortSignal): Promise<void> {
    if (this.#resumed !== undefined) await orAborted(this.#resumed.promise, signal).catch(() => {});
  }
}
