import type { BridgeError, Clock } from "@bridge/ports";

/**
 * Whether the store takes what a job writes of its entries: marks, deletions, the trash. The document of the job may have room where they
 * have none, as a store keeps some for it.
 */
export class StoreWrites {
  readonly #clock: Pick<Clock, "monotonic">;
  #failingSince: number | undefined;
  #failure: BridgeError | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  took(): void {
    this.#failingSince = undefined;
    this.#failure = undefined;
  }

  failed(failure: BridgeError): void {
    this.#failingSince ??= this.#clock.monotonic();
    this.#failure = failure;
  }

  /** For how long it has taken none, in milliseconds; 0 when the last one was taken. */
  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : this.#clock.monotonic() - this.#failingSince;
  }

  get failure(): BridgeError | undefined {
    return this.#failure;
  }
}
