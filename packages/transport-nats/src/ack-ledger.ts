import type { BridgeError } from "@bridge/ports";
import { SequenceMap, TurnWrites } from "@bridge/ports/internal";
import type { NatsDelivery } from "./nats-delivery.ts";

const ACK = Buffer.from("+ACK");
const TERM = Buffer.from("+TERM");
/** Back at once. */
export const GIVEN_BACK = Buffer.from("-NAK");
/** It is still being worked on. */
export const WORKING = Buffer.from("+WPI");
const NANOS_PER_MS = 1_000_000;

/** Writes one word about a message. */
type Tell = (ackSubject: string, word: Uint8Array) => void;

export interface LedgerOptions {
  readonly tell: Tell;
  /** Whether the server takes a reason for giving a message up; before 2.10.4 it overhears the whole word then. */
  readonly takesReasons: boolean;
  /** What is to come again, by its place in the stream. */
  readonly onReleased: (sequence: number) => void;
  /** Something was settled, and told: there may be room for more. */
  readonly onRoom: () => void;
}

/**
 * What one consumer on one connection owes its server.
 *
 * Words of one turn of the event loop go out together. It dies with its connection: what is settled later is refused, and
 * never reaches another connection, though the server would take it there.
 */
export class AckLedger {
  readonly #options: LedgerOptions;
  readonly #writes = new TurnWrites<NatsDelivery>(
    (settled) => this.#tellAll(settled),
    "the connection takes no words any more",
    setImmediate,
  );
  /** What the server waits for, by its place in the stream. */
  readonly #outstanding = new SequenceMap<NatsDelivery>();
  #age = 0;
  #acknowledged = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  /** Aborts when the connection is gone, and with it the right to settle. */
  get signal(): AbortSignal {
    return this.#writes.signal;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  get outstanding(): number {
    return this.#outstanding.size;
  }

  /** Places in the stream of what is not settled. */
  get unsettled(): readonly number[] {
    return this.#outstanding.entries().map(([sequence]) => sequence);
  }

  /** Notes what was handed out. `false` when it is held here already: it has come again because it was slow. */
  open(delivery: NatsDelivery): boolean {
    const held = this.#outstanding.get(delivery.sequence);
    if (held !== undefined) {
      held.ackSubject = delivery.ackSubject;
      return false;
    }
    delivery.age = this.#age;
    this.#outstanding.set(delivery.sequence, delivery);
    return true;
  }

  /** Resolves when the word is written; rejects when the connection is lost before that. Once for each delivery. */
  accept(delivery: NatsDelivery): Promise<void> {
    return this.#settle(delivery, ACK);
  }

  /** As {@link accept}, of a message that will never be delivered: operators are told of it by an advisory. */
  terminate(delivery: NatsDelivery, reason: string): Promise<void> {
    return this.#settle(delivery, this.#options.takesReasons ? Buffer.from(`+TERM ${reason}`) : TERM);
  }

  /** The server hands it out again after the delay. */
  release(delivery: NatsDelivery, delayMs: number): Promise<void> {
    if (!this.signal.aborted) this.#options.onReleased(delivery.sequence);
    const delay = Math.ceil(delayMs) * NANOS_PER_MS;
    return this.#settle(delivery, delay > 0 ? Buffer.from(`-NAK {"delay":${delay}}`) : GIVEN_BACK);
  }

  /** Tells the server that what is held since before the last call is still being worked on. */
  extend(): number {
    let extended = 0;
    for (const [, { age, ackSubject }] of this.#outstanding.entries()) {
      if (age === this.#age) continue;
      this.#options.tell(ackSubject, WORKING);
      extended++;
    }
    this.#age++;
    return extended;
  }

  /** Writes what is settled. */
  flush(): void {
    this.#writes.flush();
  }

  /** The connection is about to be closed: writes what is settled. What is not is to be given back where it says. */
  end(error: BridgeError): readonly string[] {
    this.flush();
    const rest = this.#outstanding.entries().map(([, { ackSubject }]) => ackSubject);
    this.lose(error);
    return rest;
  }

  /** The connection is gone: what was not settled will be handed out again. */
  lose(error: BridgeError): void {
    if (this.#writes.lose(error)) this.#outstanding.clear();
  }

  #settle(delivery: NatsDelivery, word: Uint8Array): Promise<void> {
    if (!this.signal.aborted) delivery.word = word;
    return this.#writes.add(delivery);
  }

  #tellAll(settled: readonly NatsDelivery[]): void {
    try {
      for (const delivery of settled) {
        this.#options.tell(delivery.ackSubject, delivery.word);
        this.#outstanding.take(delivery.sequence);
      }
      this.#acknowledged += settled.length;
    } finally {
      this.#options.onRoom();
    }
  }
}
