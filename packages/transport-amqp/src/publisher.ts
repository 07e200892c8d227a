import { type Abortable, BridgeError, type Clock, unwatchAbort, watchAbort } from "@bridge/ports";
import { Bag, type Placed } from "@bridge/ports/internal";
import { channelFailures, type Published } from "./channel-failures.ts";
import type { PublishFields } from "./codec/publish-frames.ts";
import type { Properties } from "./codec/read-properties.ts";
import type { Channel } from "./connection/channel.ts";
import type { Refusal } from "./connection/refusal.ts";
import { asTransient } from "./reply-codes.ts";
import type { TargetConnection } from "./target-connection.ts";

/** Enough for any window of the routes; what is given up stays here until the broker has answered it. */
const MAX_UNCONFIRMED = 4_096;
/** A broker that has confirmed nothing for so long, while a message waited in vain, will not do so any more. */
const STALLED_MS = 5_000;

/** One message under way. */
interface Pending extends Published, Placed, Abortable {
  readonly payload: Buffer;
  readonly fields: PublishFields;
  /** Counts what was written, so that it can be told which was first. */
  sequence: number;
  /** When it began to wait for its turn. */
  waitingSince: number;
  /** The broker has returned it; its confirm follows. */
  returned: BridgeError | undefined;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Whoever has messages to publish. */
export interface Publishing {
  readonly exchange: string;
  /** The broker has one more of its messages. */
  confirmed(): void;
}

export interface PublisherParts {
  readonly connection: TargetConnection;
  readonly sender: Publishing;
  readonly clock: Clock;
}

/**
 * Publishes to one exchange on one connection, on a channel of its own. The channel is opened for the first message, and
 * again after a message that made the broker close it. Nothing of it outlives the connection.
 */
export class Publisher {
  readonly #connection: TargetConnection;
  readonly #sender: Publishing;
  readonly #clock: Clock;
  #channel: Channel | undefined;
  #opening = false;
  #closed: BridgeError | undefined;
  readonly #unconfirmed = new Bag<Pending>();
  /** In their turn, until there is a channel and room. */
  readonly #waiting = new Set<Pending>();
  #confirmedAt = 0;
  #written = 0;

  constructor({ connection, sender, clock }: PublisherParts) {
    this.#connection = connection;
    this.#sender = sender;
    this.#clock = clock;
  }

  get unconfirmed(): number {
    return this.#unconfirmed.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when the broker has the message; rejects with a {@link BridgeError}, or the signal's reason. */
  publish(fields: PublishFields, payload: Uint8Array, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const refusal = this.#closed ?? this.#connection.refusal;
      if (refusal !== undefined) {
        reject(refusal);
        return;
      }
      const pending: Pending = {
        routingKey: fields.routingKey,
        messageId: fields.messageId,
        size: payload.length,
        payload: asBuffer(payload),
        fields,
        signal,
        place: -1,
        sequence: 0,
        waitingSince: 0,
        returned: undefined,
        resolve,
        reject,
        onAbort: () => this.#giveUp(pending),
      };
      watchAbort(pending);
      if (this.#mayWrite && this.#waiting.size === 0) this.#write(pending);
      else this.#wait(pending);
    });
  }

  /** Writes what waits, as far as it may. */
  resume(): void {
    for (const pending of this.#waiting) {
      if (!this.#mayWrite) return;
      this.#waiting.delete(pending);
      this.#write(pending);
    }
  }

  /** Fails what waits: it was not tried. */
  refuseWaiting(error: BridgeError): void {
    for (const pending of this.#waiting) this.#fail(pending, error);
    this.#waiting.clear();
  }

  /** Nothing is published here any more; what is under way fails. */
  close(error: BridgeError): void {
    if (this.#closed !== undefined) return;
    this.#closed = asTransient(error, false);
    this.refuseWaiting(this.#closed);
    const interrupted = asTransient(error, true);
    for (const pending of this.#unconfirmed) this.#fail(pending, interrupted);
    this.#unconfirmed.clear();
    // When the connection is closed already, so is the channel.
    if (this.#channel !== undefined) void this.#channel.close();
    this.#channel = undefined;
  }

  get #mayWrite(): boolean {
    return this.#channel !== undefined && !this.#connection.blocked && this.#unconfirmed.size < MAX_UNCONFIRMED;
  }

  #wait(pending: Pending): void {
    pending.waitingSince = this.#clock.monotonic();
    this.#waiting.add(pending);
    if (this.#channel === undefined) void this.#open();
  }

  async #open(): Promise<void> {
    if (this.#opening) return;
    this.#opening = true;
    try {
      let opened: Channel | undefined;
      opened = await this.#connection.wire.confirmChannel({
        failed: (error) => this.#channelFailed(error, opened),
        returned: (routingKey, properties) => this.#returned(routingKey, properties),
      });
      if (this.#closed !== undefined) {
        void opened.close();
        return;
      }
      this.#channel = opened;
      this.resume();
    } catch (error) {
      this.refuseWaiting(asTransient(BridgeError.from(error), false));
    } finally {
      this.#opening = false;
    }
  }

  #write(pending: Pending): void {
    try {
      (this.#channel as Channel).publish(pending.fields, pending.payload, (isTaken) =>
        this.#confirmed(pending, isTaken),
      );
      pending.sequence = this.#written++;
      this.#unconfirmed.add(pending);
    } catch (error) {
      this.#fail(
        pending,
        new BridgeError("CONNECTION_LOST", "the channel is closed", { cause: error, charged: false }),
      );
    }
  }

  #confirmed(pending: Pending, isTaken: boolean): void {
    if (!this.#unconfirmed.delete(pending)) return;
    unwatchAbort(pending);
    if (!isTaken) {
      pending.reject(new BridgeError("UNAVAILABLE", "the broker could not take the message (basic.nack)"));
    } else if (pending.returned !== undefined) pending.reject(pending.returned);
    else {
      this.#sender.confirmed();
      pending.resolve();
    }
    if (this.#waiting.size === 0) return;
    this.#confirmedAt = this.#clock.monotonic();
    this.resume();
  }

  /** Returns come in the order of publishing, each before its confirm. */
  #returned(routingKey: string, { messageId }: Properties): void {
    let first: Pending | undefined;
    for (const pending of this.#unconfirmed) {
      if (pending.messageId !== messageId || pending.routingKey !== routingKey) continue;
      if (pending.returned === undefined && (first === undefined || pending.sequence < first.sequence)) first = pending;
    }
    if (first === undefined) return;
    const exchange = this.#sender.exchange === "" ? "the default exchange" : `exchange ${this.#sender.exchange}`;
    first.returned = new BridgeError(
      "DESTINATION_NOT_FOUND",
      `no queue takes messages of ${exchange} with this routing key (312)`,
    );
  }

  #channelFailed(error: Refusal, failed: Channel | undefined): void {
    if (failed === undefined || this.#channel !== failed) return;
    this.#channel = undefined;
    const pending = this.#inOrder();
    this.#unconfirmed.clear();
    const failures = channelFailures(error, pending, (maxSize) => this.#connection.keepTo(maxSize));
    for (const [index, one] of pending.entries()) this.#fail(one, failures[index] as BridgeError);
    if (this.#waiting.size > 0) void this.#open();
  }

  /** What is unconfirmed, as it was published. */
  #inOrder(): readonly Pending[] {
    return [...this.#unconfirmed].toSorted((one, other) => one.sequence - other.sequence);
  }

  #fail(pending: Pending, error: Error): void {
    unwatchAbort(pending);
    pending.reject(error);
  }

  #giveUp(pending: Pending): void {
    this.#fail(pending, pending.signal.reason as Error);
    if (!this.#waiting.delete(pending) || this.#connection.blocked) return;
    const waitedMs = this.#clock.monotonic() - Math.max(pending.waitingSince, this.#confirmedAt);
    if (waitedMs < STALLED_MS) return;
    const what = `the broker has confirmed no message for ${Math.round(waitedMs)} ms`;
    this.#connection.wire.lose(new BridgeError("TIMEOUT", what));
  }
}

/** A view of the same bytes. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
