import type { BridgeError, Clock, StoreHealth } from "@bridge/ports";
import { LinkedAbort } from "./linked-abort.ts";

/** A store of which nothing was heard for so long is asked. */
const QUIET_MS = 3_000;
/** One look; what was not answered by then has failed. */
const LOOK_MS = 5_000;

/**
 * Whether the last call failed, and why. Where there is a probe, it looks by itself when nobody calls, so that a service
 * that went away, or is back, is known within some ten seconds.
 */
export class FaultWatch {
  readonly #clock: Clock;
  readonly #over: AbortSignal;
  #failure: BridgeError | undefined;
  /** Whether a call has succeeded since the last look. */
  #well = false;
  #looking = false;

  /** `probe` is a call whose end is told to this watch, as that of every other. */
  constructor(clock: Clock, probe: ((signal: AbortSignal) => Promise<unknown>) | undefined, over: AbortSignal) {
    this.#clock = clock;
    this.#over = over;
    if (probe === undefined || over.aborted) return;
    const looks = clock.every(QUIET_MS, () => void this.#look(probe));
    over.addEventListener("abort", () => looks[Symbol.dispose](), { once: true });
  }

  succeeded(): void {
    this.#failure = undefined;
    this.#well = true;
  }

  failed(failure: BridgeError): void {
    this.#failure = failure;
  }

  /** What the last call failed with; nothing once a call has succeeded. */
  get failure(): BridgeError | undefined {
    return this.#failure;
  }

  health(): StoreHealth {
    return { ...(this.#failure !== undefined && { fault: this.#failure.message }), setAside: [] };
  }

  async #look(probe: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const well = this.#well;
    this.#well = false;
    if (well || this.#looking || this.#over.aborted) return;
    this.#looking = true;
    using look = new LinkedAbort(this.#over);
    using done = new LinkedAbort(this.#over);
    this.#clock.delay(LOOK_MS, done.signal).then(
      () => look.abort(new Error("the look took too long")),
      () => {},
    );
    // What it rejects with is the failure already.
    await probe(look.signal).catch(() => {});
    done.abort(new Error("done"));
    this.#looking = false;
  }
}
