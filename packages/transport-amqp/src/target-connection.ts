import { BridgeError, type Clock, type Connection } from "@bridge/ports";
import { sizeError } from "./channel-failures.ts";
import { Publisher, type Publishing } from "./publisher.ts";
import type { Wire } from "./wire.ts";

const NO_SUBSCRIPTIONS: ReadonlySet<string> = new Set();
/** How long messages wait for a broker that reads nothing. After that they are refused at once, until it reads again. */
const PATIENCE_MS = 5_000;
const MAX_SHOWN = 100;

/** A connection that sends. */
export class TargetConnection implements Connection {
  readonly wire: Wire;
  readonly #clock: Clock;
  readonly #publishers = new Map<Publishing, Publisher>();
  #blocking: AbortController | undefined;
  #refusal: BridgeError | undefined;
  #maxSize = Number.POSITIVE_INFINITY;

  constructor(wire: Wire, clock: Clock) {
    this.wire = wire;
    this.#clock = clock;
  }

  get closed(): Promise<BridgeError | undefined> {
    return this.wire.closed;
  }

  /** Whether the broker reads nothing of what is published. */
  get blocked(): boolean {
    return this.#blocking !== undefined;
  }

  /** Why nothing can be published, when that has been so for a while. */
  get refusal(): BridgeError | undefined {
    return this.#refusal;
  }

  get unconfirmed(): number {
    return this.#sum(({ unconfirmed }) => unconfirmed);
  }

  get waiting(): number {
    return this.#sum(({ waiting }) => waiting);
  }

  /** The publisher of a sender, which has one on each connection. */
  publisherOf(sender: Publishing): Publisher {
    let publisher = this.#publishers.get(sender);
    if (publisher === undefined) {
      publisher = new Publisher({ connection: this, sender, clock: this.#clock });
      this.#publishers.set(sender, publisher);
    }
    return publisher;
  }

  /** The sender is gone: what it has under way fails. */
  forget(sender: Publishing, error: BridgeError): void {
    this.#publishers.get(sender)?.close(error);
    this.#publishers.delete(sender);
  }

  /** @throws BridgeError `PAYLOAD_TOO_LARGE` for what would cost the channel, as far as that is known */
  check(size: number): void {
    if (size > this.#maxSize) throw sizeError(size, this.#maxSize);
  }

  /** The broker has said how large a message may be. */
  keepTo(maxSize: number): void {
    this.#maxSize = Math.min(this.#maxSize, maxSize);
  }

  /** The broker has stopped reading, for this reason, or goes on. */
  block(reason: string | undefined): void {
    this.#blocking?.abort();
    this.#blocking = undefined;
    this.#refusal = undefined;
    if (reason === undefined) {
      for (const publisher of this.#publishers.values()) publisher.resume();
      return;
    }
    const blocking = new AbortController();
    this.#blocking = blocking;
    const what = `the broker takes no messages: it says "${reason.slice(0, MAX_SHOWN)}"`;
    void this.#clock.delay(PATIENCE_MS, blocking.signal).then(
      () => this.#refuse(new BridgeError("UNAVAILABLE", what, { charged: false })),
      () => {},
    );
  }

  /** The connection is gone. */
  lost(cause: BridgeError): void {
    this.#blocking?.abort();
    for (const publisher of this.#publishers.values()) publisher.close(cause);
    this.#publishers.clear();
  }

  async reconcile(): Promise<ReadonlySet<string>> {
    return NO_SUBSCRIPTIONS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.lost(new BridgeError("CONNECTION_LOST", "the connection was closed"));
    await this.wire.close();
  }

  #refuse(error: BridgeError): void {
    this.#refusal = error;
    for (const publisher of this.#publishers.values()) publisher.refuseWaiting(error);
  }

  #sum(of: (publisher: Publisher) => number): number {
    let sum = 0;
    for (const publisher of this.#publishers.values()) sum += of(publisher);
    return sum;
  }
}
