import type { BridgeError } from "@bridge/ports";

/** When a message is acknowledged: after all that came before it on the connection, or at once. */
export type AckOrder = "connection" | "any";

/** A message of QoS 1 that the broker waits to see acknowledged. */
export class Held {
  readonly ledger: AckLedger;
  readonly packetId: number;
  /** The receivers that have not accepted it yet. */
  outstanding: number;
  written = false;
  before: Held | undefined;
  after: Held | undefined;
  waiting: PromiseWithResolvers<void> | undefined;

  constructor(ledger: AckLedger, packetId: number, outstanding: number) {
    this.ledger = ledger;
    this.packetId = packetId;
    this.outstanding = outstanding;
  }
}

/**
 * What one connection owes its broker. In the order `connection` acknowledgements go out in the order of receipt, as
 * the standard asks (MQTT-4.6.0-2): one that comes early waits for those before it.
 *
 * It dies with its connection: an acknowledgement that comes later is refused, and never reaches another connection,
 * where its packet identifier may mean another message.
 */
export class AckLedger {
  readonly #order: AckOrder;
  readonly #write: (packetId: number) => void;
  #first: Held | undefined;
  #last: Held | undefined;
  readonly #gone = new AbortController();

  constructor(order: AckOrder, write: (packetId: number) => void) {
    this.#order = order;
    this.#write = write;
  }

  /** Aborts when the connection is gone, and with it the right to acknowledge. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Enters a message in its turn; `receivers` of them, at least one, have to accept it. */
  open(packetId: number, receivers: number): Held {
    const held = new Held(this, packetId, receivers);
    held.before = this.#last;
    if (this.#last === undefined) this.#first = held;
    else this.#last.after = held;
    this.#last = held;
    return held;
  }

  /** One more receiver has accepted the message; the last one's word acknowledges it as soon as its turn has come. */
  accept(held: Held): void {
    if (this.signal.aborted || --held.outstanding > 0) return;
    if (this.#order === "any") this.#acknowledge(held);
    else while (this.#first !== undefined && this.#first.outstanding <= 0) this.#acknowledge(this.#first);
  }

  /** Resolves once the message is acknowledged; nothing when it is already. Rejects when its connection is lost. */
  whenWritten(held: Held): Promise<void> | undefined {
    if (held.written) return undefined;
    if (this.signal.aborted) return Promise.reject(this.signal.reason as BridgeError);
    held.waiting ??= Promise.withResolvers<void>();
    return held.waiting.promise;
  }

  /**
   * Before a connection is closed on purpose: acknowledges what is accepted and waits for its turn. The order holds, as
   * nothing is acknowledged on this connection afterwards.
   */
  finish(): void {
    let held = this.#first;
    while (held !== undefined) {
      const { after } = held;
      if (held.outstanding <= 0) this.#acknowledge(held);
      held = after;
    }
  }

  /** The connection is gone: what was not acknowledged will be handed out again. */
  lose(error: BridgeError): void {
    if (this.signal.aborted) return;
    this.#gone.abort(error);
    for (let held = this.#first; held !== undefined; held = held.after) held.waiting?.reject(error);
    this.#first = undefined;
    this.#last = undefined;
  }

  #acknowledge(held: Held): void {
    if (held.before === undefined) this.#first = held.after;
    else held.before.after = held.after;
    if (held.after === undefined) this.#last = held.before;
    else held.after.before = held.before;
    // One that is old enough to be kept for long would keep all those after it, one after the other.
    held.before = undefined;
    held.after = undefined;
    held.written = true;
    this.#write(held.packetId);
    held.waiting?.resolve();
  }
}
