export interface PullsOptions {
  /** Messages that may be asked for and not settled, together. */
  readonly window: number;
  /**
   * Whether the server hands out no more than the window before it sees some of it settled. It may then be asked ahead, so
   * that it goes on as soon as it reads that something is settled.
   */
  readonly bounded: boolean;
  /** What the consumer allows of one request. */
  readonly maxBatch: number;
  readonly maxExpiresMs: number;
  readonly heartbeatMs: number;
  /** Sends a request. */
  readonly request: (body: string) => void;
}

const NANOS_PER_MS = 1_000_000;
const EXPIRES_MS = 30_000;
/** Of the window, the room that is worth a request. */
const WORTH = 4;

/** Asks a consumer for messages: never for more than there will be room for, and seldom. */
export class Pulls {
  readonly #options: PullsOptions;
  readonly #worth: number;
  readonly #expiresMs: number;
  readonly #heartbeatMs: number;
  /** Asked for, and not come. */
  #awaited = 0;
  #made = 0;
  /** Whether the server has been heard of since it was last looked at. */
  #heard = true;
  #silences = 0;

  constructor(options: PullsOptions) {
    this.#options = options;
    this.#worth = Math.max(1, Math.floor(Math.min(options.window, options.maxBatch) / WORTH));
    this.#expiresMs = Math.min(Math.max(EXPIRES_MS, 2 * options.heartbeatMs), options.maxExpiresMs);
    // A server refuses a request that ends before it has said twice that it is there.
    this.#heartbeatMs = Math.min(options.heartbeatMs, this.#expiresMs / 2);
  }

  /** Requests that were made. */
  get made(): number {
    return this.#made;
  }

  /** Asks for as much as there is room for beside what is held, if that is worth it. */
  advance(held: number): void {
    const { window, bounded, maxBatch, request } = this.#options;
    for (;;) {
      const room = window - this.#awaited - (bounded ? 0 : held);
      if (room < this.#worth) return;
      const batch = Math.min(room, maxBatch);
      this.#awaited += batch;
      this.#made++;
      const expires = Math.floor(this.#expiresMs * NANOS_PER_MS);
      request(JSON.stringify({ batch, expires, idle_heartbeat: Math.floor(this.#heartbeatMs * NANOS_PER_MS) }));
    }
  }

  /** A message has come. */
  came(): void {
    this.#heard = true;
    if (this.#awaited > 0) this.#awaited--;
  }

  /** The server has said something. `true` when a request has ended in order, so that another may be made. */
  said(code: number, pending: number | undefined): boolean {
    // Why a request was ended early is found out when the next one is not heard of.
    if (code !== 100 && code !== 408 && code !== 404) return false;
    this.#heard = true;
    if (code === 100) return false;
    this.#awaited = pending === undefined ? 0 : Math.max(0, this.#awaited - pending);
    return true;
  }

  /** Whether the server has been heard of within two heartbeats, if it should have been; to be asked at each. */
  isHeard(): boolean {
    this.#silences = this.#heard || this.#awaited === 0 ? 0 : this.#silences + 1;
    this.#heard = false;
    return this.#silences < 2;
  }

  /** What was asked for will not come. */
  forget(): void {
    this.#awaited = 0;
    this.#heard = true;
    this.#silences = 0;
  }
}
