import { BridgeError, type Clock, type Logger } from "@bridge/ports";
import type { JetStreamManager } from "@nats-io/jetstream";
import { createInbox, type Msg, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { AckLedger, GIVEN_BACK } from "./ack-ledger.ts";
import { parseAckSubject } from "./ack-subject.ts";
import { type ReadyConsumer, readyConsumer } from "./consumer-setup.ts";
import { statusOf, wireMessage } from "./header-block.ts";
import { inbound } from "./inbound-message.ts";
import { NatsDelivery } from "./nats-delivery.ts";
import type { NatsReceiver } from "./nats-receiver.ts";
import { Pulls } from "./pulls.ts";
import { isNotFound, requestError } from "./server-error.ts";

/** Of the time in which the server wants to hear of a message, how much passes before it does. */
const EXTENSIONS = 4;

export interface ConsumerParts {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inboxPrefix: string;
  /** How often a server says that it is there while nothing comes. */
  readonly heartbeatMs: number;
  /** Whether the server takes a reason for giving a message up. */
  readonly takesReasons: boolean;
  /** The consumer is gone, or does not answer; whoever is told closes the connection. */
  readonly lost: (error: BridgeError) => void;
}

/** One receiver at work on one connection. */
export class StreamConsumer {
  readonly receiver: NatsReceiver;
  readonly name: string;
  readonly ledger: AckLedger;
  /** What asks for messages goes here. */
  readonly pullSubject: string;
  readonly #parts: ConsumerParts;
  readonly #subscription: Subscription;
  readonly #inbox: string;
  readonly #pulls: Pulls;
  readonly #timers: readonly Disposable[];
  #looking = false;
  #extended = 0;
  #copies = 0;
  #closing: Promise<void> | undefined;
  /** Where what is not settled when we leave is given back. */
  readonly #rest: string[] = [];

  private constructor(receiver: NatsReceiver, ready: ReadyConsumer, parts: ConsumerParts) {
    const { connection, clock, heartbeatMs } = parts;
    this.receiver = receiver;
    this.name = ready.name;
    this.#parts = parts;
    this.ledger = new AckLedger({
      tell: (ackSubject, word) => connection.publish(ackSubject, word),
      takesReasons: parts.takesReasons,
      onReleased: (sequence) => receiver.position?.released(sequence),
      onRoom: () => this.#advance(),
    });
    this.#inbox = createInbox(parts.inboxPrefix);
    this.pullSubject = `$JS.API.CONSUMER.MSG.NEXT.${receiver.options.stream}.${ready.name}`;
    this.#pulls = new Pulls({
      window: receiver.window,
      bounded: ready.maxAckPending <= receiver.window,
      maxBatch: ready.maxBatch,
      maxExpiresMs: ready.maxExpiresMs,
      heartbeatMs,
      request: (body) => connection.publish(this.pullSubject, body, { reply: this.#inbox }),
    });
    this.#subscription = connection.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) this.#take(message);
        else parts.lost(requestError(`stream ${receiver.options.stream} cannot be consumed`, error));
      },
    });
    this.#timers = [
      clock.every(heartbeatMs, () => this.#listen()),
      clock.every(ready.ackWaitMs / EXTENSIONS, () => (this.#extended += this.ledger.extend())),
    ];
    this.#advance();
  }

  /**
   * Begins to pull.
   *
   * @throws BridgeError when the stream or the consumer is not there, or is not as the receiver says
   */
  static async open(receiver: NatsReceiver, last: string | undefined, parts: ConsumerParts): Promise<StreamConsumer> {
    return new StreamConsumer(receiver, await readyConsumer(parts.manager, receiver, last, parts.logger), parts);
  }

  get counters(): Readonly<Record<string, number>> {
    return {
      unacknowledged: this.ledger.outstanding,
      extended: this.#extended,
      copies: this.#copies,
      pulls: this.#pulls.made,
    };
  }

  /** Pulls nothing more, writes what is settled and gives the rest back. Resolves when the server has read it. */
  close(error: BridgeError): Promise<void> {
    this.#closing ??= this.#close(error);
    return this.#closing;
  }

  /** The connection is gone. */
  lose(error: BridgeError): void {
    if (this.ledger.signal.aborted) return;
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.receiver.position?.lost(this.ledger.unsettled);
    this.ledger.lose(error);
    this.receiver.withdraw(this.ledger.signal);
  }

  async #close(error: BridgeError): Promise<void> {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    if (this.ledger.signal.aborted) return;
    // First of all nobody listens any more: what is given back must not come to this very request.
    const drained = this.#subscription.drain();
    this.ledger.flush();
    this.receiver.position?.lost(this.ledger.unsettled);
    this.#rest.push(...this.ledger.end(error));
    this.receiver.withdraw(this.ledger.signal);
    try {
      await drained;
      if (this.receiver.options.consumer === undefined) await this.#remove();
      else await this.#giveBack();
    } catch {
      // The connection is gone, or the consumer: then it has everything back.
    }
  }

  /**
   * What is not settled goes back at once, rather than when its time is over. Servers of 2.9 forget to count the next
   * delivery of what comes back while they still know of a pull that nobody listens to; whoever asks about the consumer
   * makes them forget such pulls.
   */
  async #giveBack(): Promise<void> {
    const { connection, manager } = this.#parts;
    if (this.#rest.length === 0) return;
    await manager.consumers.info(this.receiver.options.stream, this.name);
    for (const ackSubject of this.#rest) connection.publish(ackSubject, GIVEN_BACK);
  }

  /** An ephemeral consumer that nobody comes back to is in the way of the next one on a stream that is a work queue. */
  async #remove(): Promise<void> {
    await this.#parts.manager.consumers.delete(this.receiver.options.stream, this.name);
  }

  #take(message: Msg): void {
    const { reply = "" } = message;
    const info = message.subject === this.#inbox ? undefined : parseAckSubject(reply);
    if (info === undefined) {
      this.#status(message);
      return;
    }
    this.#pulls.came();
    // It came while we took our leave: nobody is to wait for it.
    if (this.ledger.signal.aborted) {
      this.#rest.push(reply);
      return;
    }
    const { releasable } = this.receiver;
    const decoded = inbound(message.subject, wireMessage(message), info);
    const delivery = new NatsDelivery(decoded, info, { ackSubject: reply, releasable }, this.ledger);
    if (this.ledger.open(delivery)) {
      this.receiver.position?.handedOut(info.sequence);
      this.receiver.push(delivery);
    } else this.#copies++;
    this.#advance();
  }

  #status(message: Msg): void {
    const status = statusOf(wireMessage(message));
    if (status === undefined || this.ledger.signal.aborted) return;
    const { code, description, pending } = status;
    if (this.#pulls.said(code, pending)) this.#advance();
    else if (code === 409 && /consumer deleted/i.test(description)) this.#isGone("it was deleted");
  }

  #advance(): void {
    if (this.ledger.signal.aborted) return;
    this.#pulls.advance(this.ledger.outstanding);
  }

  /** A server answers no request for a consumer that it does not know: so whoever hears nothing asks. */
  #listen(): void {
    const heard = this.#pulls.isHeard();
    if ((heard && this.receiver.position?.inDoubt !== true) || this.#looking) return;
    this.#looking = true;
    void this.#look(heard).finally(() => (this.#looking = false));
  }

  async #look(heard: boolean): Promise<void> {
    const { manager, lost } = this.#parts;
    const { stream } = this.receiver.options;
    try {
      const info = await manager.consumers.info(stream, this.name);
      this.receiver.position?.told(info);
      if (heard) return;
      this.#pulls.forget();
      this.#advance();
    } catch (error) {
      if (this.ledger.signal.aborted) return;
      if (isNotFound(error)) this.#isGone("it is not there any more");
      else if (!heard) lost(requestError(`consumer ${this.name} of stream ${stream} is silent`, error));
    }
  }

  #isGone(how: string): void {
    const { stream } = this.receiver.options;
    this.#parts.lost(new BridgeError("CONNECTION_LOST", `consumer ${this.name} of stream ${stream} is gone: ${how}`));
  }
}
