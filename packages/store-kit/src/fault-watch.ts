import type { BridgeError, Clock, StoreHealth } from "@bridge/ports";

const PROBE_MS = 10_000;

/** Whether the last call failed, and why; looks now and then whether it would still, where there is a probe for that. */
export class FaultWatch {
  readonly #clock: Clock;
  readonly #probe: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  readonly #over: AbortSignal;
  #fault: string | undefined;
  #probing = false;

  /** `probe` is a call whose end is told to this watch, as that of every other. */
  constructor(clock: Clock, probe: ((signal: AbortSignal) => Promise<unknown>) | undefined, over: AbortSignal) {
    this.#clock = clock;
    this.#probe = probe;
    this.#over = over;
  }

  succeeded(): void {
    this.#fault = undefined;
  }

  failed({ message }: BridgeError): void {
    this.#fault = message;
    if (this.#probe === undefined || this.#probing) return;
    this.#probing = true;
    void this.#untilWell(this.#probe);
  }

  health(): StoreHealth {
    return { ...(this.#fault !== undefined && { fault: this.#fault }), setAside: [] };
  }

  async #untilWell(probe: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    while (this.#fault !== undefined && !this.#over.aborted) {
      await this.#clock.delay(PROBE_MS, this.#over).catch(() => {});
      // What it rejects with is the fault already.
      if (this.#fault !== undefined) await probe(this.#over).catch(() => {});
    }
    this.#probing = false;
  }
}
