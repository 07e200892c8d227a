import type { IncomingMessage, ServerResponse } from "node:http";
import { BridgeError, type Delivery, type Settlement, type SourceMessage } from "@bridge/ports";
import { type SignalPool } from "@bridge/ports/internal";
import type { Answers } from "./answers.ts";
import type { Reservation } from "./backlog.ts";
import type { Place } from "./ordered-list.ts";
import { type Reply, replyTo, sendReply } from "./reply.ts";

/** Why the work on a delivery ends: its caller has been told that nothing is confirmed. */
const TAKEN_BACK = new BridgeError("CONNECTION_LOST", "the caller was answered 503 and is to repeat the request");

const ABORTED = AbortSignal.abort(TAKEN_BACK);

/** One admitted request, from its headers to its answer. It is answered at most once. */
export class Exchange {
  /** Monotonic milliseconds: when the caller is answered at the latest. */
  readonly deadline: number;
  /** Its room in the backlog, until it is pulled. */
  reservation: Reservation<Exchange> | undefined;
  /** Where it stands among those that wait for their answers. */
  place: Place<Exchange> | undefined;
  /** The message, once its body has arrived. */
  delivery: HttpDelivery | undefined;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #correlationId: string | undefined;
  readonly #answers: Answers;
  readonly #signals: SignalPool;
  readonly #onEnd: (exchange: Exchange) => void;
  #ended = false;
  #takenBack = false;
  #controller: AbortController | undefined;

  constructor(options: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
    readonly correlationId: string | undefined;
    readonly deadline: number;
    readonly answers: Answers;
    readonly signals: SignalPool;
    readonly onEnd: (exchange: Exchange) => void;
  }) {
    this.#incoming = options.incoming;
    this.#outgoing = options.outgoing;
    this.#correlationId = options.correlationId;
    this.deadline = options.deadline;
    this.#answers = options.answers;
    this.#signals = options.signals;
    this.#onEnd = options.onEnd;
  }

  /** Whether it was answered, or has nobody to answer any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Aborts when the request ends without being settled; `undefined` once it is settled. */
  get signal(): AbortSignal | undefined {
    if (!this.#ended) this.#controller ??= this.#signals.take();
    return this.#controller?.signal ?? (this.#takenBack ? ABORTED : undefined);
  }

  /** Answers the caller without a settlement; whoever works on the message is told to give up. */
  refuse(reply: Reply): void {
    if (!this.#end()) return;
    sendReply(this.#outgoing, reply, this.#correlationId);
    this.#takenBack = true;
    this.#controller?.abort(TAKEN_BACK);
  }

  /** Forgets a request whose body will not arrive. */
  abandon(): void {
    this.#end();
  }

  /** Whether somebody waits for the answer. Asked before anybody works on it: a request whose caller has left is forgotten. */
  isWanted(): boolean {
    if (this.#incoming.socket.destroyed) this.#end();
    return !this.#ended;
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    if (!this.#end()) return Promise.reject(TAKEN_BACK);
    if (this.#controller !== undefined) this.#signals.giveBack(this.#controller);
    this.#controller = undefined;
    const fallback = settlement.kind === "accept" ? settlement.envelopeId : undefined;
    this.#answers.send(this.#outgoing, replyTo(settlement), this.#correlationId ?? fallback);
    return undefined;
  }

  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.#onEnd(this);
    return true;
  }
}

/**
 * The message of a request. A caller that disconnects once the work on it has begun does not end it: the message may
 * be half-way to its target, and the caller will repeat it under the same key or does not care.
 */
export class HttpDelivery implements Delivery {
  readonly message: SourceMessage;
  /** The engine holds the message while it waits for a retry: HTTP cannot hand it out again later. */
  readonly releasable = false;
  /** The caller waits for the answer. */
  readonly refusable = true;
  readonly #exchange: Exchange;

  constructor(message: SourceMessage, exchange: Exchange) {
    this.message = message;
    this.#exchange = exchange;
  }

  get signal(): AbortSignal | undefined {
    return this.#exchange.signal;
  }

  begin(): boolean {
    return this.#exchange.isWanted();
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    return this.#exchange.settle(settlement);
  }
}
