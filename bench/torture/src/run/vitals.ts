import type { BridgeApi } from "../bridge/api.ts";

/** What the metrics of the bridge said while it ran, over all of its processes. */
export interface Vitals {
  /** Readings of the metrics. */
  readonly readings: number;
  /** Of `bridge_unaccounted_messages`: each reading that was not 0. */
  readonly unaccounted: readonly number[];
  /** Writes that were refused; each was tried again. */
  readonly dlqWriteFailures: number;
}

/** One reading that matters to the torture. */
export interface Reading {
  readonly unaccounted: number;
  readonly inFlight: number;
  readonly inOutbox: number;
}

const MAX_KEPT = 100;

/** Reads the metrics and remembers what was wrong in them. */
export class VitalSigns {
  readonly #api: BridgeApi;
  readonly #unaccounted: number[] = [];
  #readings = 0;
  #dlqWriteFailures = 0;
  #lastFailures = 0;

  constructor(api: BridgeApi) {
    this.#api = api;
  }

  get vitals(): Vitals {
    return {
      readings: this.#readings,
      unaccounted: this.#unaccounted,
      dlqWriteFailures: this.#dlqWriteFailures,
    };
  }

  /** `undefined` while the bridge does not answer. */
  async read(): Promise<Reading | undefined> {
    const metrics = await this.#api.metrics().catch(() => undefined);
    if (metrics === undefined || !metrics.has("bridge_unaccounted_messages")) return undefined;
    const valueOf = (name: string): number => metrics.get(name) ?? 0;
    this.#readings++;
    const unaccounted = valueOf("bridge_unaccounted_messages");
    if (unaccounted !== 0 && this.#unaccounted.length < MAX_KEPT) this.#unaccounted.push(unaccounted);
    const failures = valueOf("bridge_dlq_write_failures_total");
    // A counter of one process: a lower value is another process, which begins at 0.
    this.#dlqWriteFailures += failures >= this.#lastFailures ? failures - this.#lastFailures : failures;
    this.#lastFailures = failures;
    return { unaccounted, inFlight: valueOf("bridge_legs_in_flight"), inOutbox: valueOf("bridge_legs_in_outbox") };
  }
}
