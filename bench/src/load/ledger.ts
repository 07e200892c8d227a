import { quantile } from "../harness/spread.ts";

/** A message begins with its number, and when it was sent. */
const STAMP_BYTES = 12;
/** A stamp, and a byte that tells whether what arrives is what was sent. */
export const LEAST_BYTES = STAMP_BYTES + 1;
const MAX_MESSAGES = 8_000_000;

/** What became of the messages so far. */
export interface Balance {
  readonly sent: number;
  /** Sent, not refused, and not arrived. */
  readonly lost: number;
  /** Arrivals beyond the first of each message. */
  readonly duplicated: number;
  /** The source was told that they were not taken. */
  readonly refused: number;
}

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Knows every message that was sent, and when and how often it arrived. */
export class Ledger {
  readonly #filling: Buffer;
  readonly #arrivals = new Uint8Array(MAX_MESSAGES);
  readonly #latencies: number[] = [];
  #isTimed = false;
  #sent = 0;
  #arrived = 0;
  #duplicated = 0;
  #refused = 0;

  constructor(size: number) {
    if (size < LEAST_BYTES) throw new Error(`a message has at least ${LEAST_BYTES} bytes`);
    this.#filling = Buffer.from(Uint8Array.from({ length: size }, (_, index) => index % 251));
  }

  /** Messages that are neither arrived nor refused. */
  get outstanding(): number {
    return this.#sent - this.#arrived - this.#refused;
  }

  get sent(): number {
    return this.#sent;
  }

  /** The payload of a new message, written to `into` at `at`. */
  send(into: Buffer, at: number): void {
    if (this.#sent === MAX_MESSAGES) throw new Error(`the ledger ends at ${MAX_MESSAGES} messages`);
    this.#filling.copy(into, at);
    into.writeUInt32BE(this.#sent++, at);
    into.writeDoubleBE(performance.now(), at + 4);
  }

  get size(): number {
    return this.#filling.length;
  }

  refuse(): void {
    this.#refused++;
  }

  /** A message has arrived; throws when it is not as it was sent. */
  receive(payload: Buffer): void {
    const number = payload.readUInt32BE(0);
    if (payload.length !== this.size || payload.at(-1) !== this.#filling.at(-1) || number >= this.#sent) {
      throw new Error(`a message of ${payload.length} bytes arrived that nobody has sent`);
    }
    const before = this.#arrivals[number] ?? 0;
    this.#arrivals[number] = Math.min(before + 1, 255);
    if (before > 0) {
      this.#duplicated++;
      return;
    }
    this.#arrived++;
    if (this.#isTimed) this.#latencies.push(performance.now() - payload.readDoubleBE(4));
  }

  /** Notes from now on how long messages take; what was noted before stays. */
  startClock(): void {
    this.#isTimed = true;
  }

  stopClock(): void {
    this.#isTimed = false;
  }

  /** Of all messages that were timed, however often the clock has run. */
  latency(): Latency {
    const sorted = Float64Array.from(this.#latencies).toSorted();
    return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99), maxMs: quantile(sorted, 1) };
  }

  balance(): Balance {
    return {
      sent: this.#sent,
      lost: this.#sent - this.#arrived - this.#refused,
      duplicated: this.#duplicated,
      refused: this.#refused,
    };
  }
}
