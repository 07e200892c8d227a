import { BridgeError, type Clock } from "@bridge/ports";

/** What a sound disk does not take for a sync, however busy it is. */
const HANGS_MS = 5_000;

/** Sees that the disk does not come back from what writes wait for. */
export class HangWatch {
  readonly #path: string;
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** One at a time. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#since = this.#clock.monotonic();
    try {
      return await work();
    } finally {
      this.#since = undefined;
    }
  }

  /** Only while it lasts: what was written is confirmed when the disk has done it after all. */
  get fault(): BridgeError | undefined {
    if (this.#since === undefined || this.#clock.monotonic() - this.#since < HANGS_MS) return undefined;
    const text = `${this.#path}: the disk does not answer: check it; what is being written waits for it, and its sources keep it`;
    return new BridgeError("UNAVAILABLE", text, { charged: false });
  }
}
