import { BridgeError } from "@bridge/ports";
import { AckLedger } from "./ack-ledger.ts";
import type { AmqpReceiver } from "./amqp-receiver.ts";
import type { Channel } from "./connection/channel.ts";
import { Refusal } from "./connection/refusal.ts";
import type { Incoming } from "./inbound-message.ts";
import { replyError } from "./reply-codes.ts";
import type { Wire } from "./wire.ts";

const NOT_FOUND = 404;
const PRECONDITION_FAILED = 406;
/** How brokers refuse, of a stream, the priority that is said with each consume. */
const NO_PRIORITY = /x-priority/;

/** One receiver at work on one connection, on a channel of its own. */
export class QueueConsumer {
  readonly receiver: AmqpReceiver;
  readonly ledger: AckLedger;
  readonly #channel: Channel;
  #failed = false;
  #closing: Promise<void> | undefined;

  private constructor(receiver: AmqpReceiver, channel: Channel) {
    this.receiver = receiver;
    this.#channel = channel;
    this.ledger = new AckLedger(channel);
  }

  /**
   * Begins to consume. `lost` is told when that ends by itself; whoever is told closes the connection.
   *
   * @throws BridgeError when the queue is not there, or is not as the receiver says
   */
  static async open(receiver: AmqpReceiver, wire: Wire, lost: (error: BridgeError) => void): Promise<QueueConsumer> {
    const { queue, queue_type, declare } = receiver.options;
    const what = `queue ${queue} cannot be consumed`;
    let consumer: QueueConsumer | undefined;
    const channel = await wire.channel({
      failed: ({ code, said }) => {
        if (consumer !== undefined)
          consumer.#fail(replyError(`the channel of queue ${queue} was closed`, code, said), lost);
      },
      delivered: (incoming) => {
        if (consumer !== undefined) consumer.#take(incoming);
      },
      oversize: (size) => {
        if (consumer !== undefined) consumer.#leave(size);
      },
      cancelled: () =>
        lost(
          new BridgeError(
            "CONNECTION_LOST",
            `the broker consumes queue ${queue} for us no more: it was deleted, or has moved`,
          ),
        ),
    });
    try {
      await channel.prefetch(receiver.prefetch);
      if (declare) await channel.declareQueue(queue, queue_type);
      consumer = new QueueConsumer(receiver, channel);
      await channel.consume(queue);
      // It may be closed with its last answer, or right behind it.
      channel.check();
      return consumer;
    } catch (error) {
      consumer = undefined;
      if (!(error instanceof Refusal))
        throw new BridgeError("CONNECTION_LOST", `${what}: ${(error as Error).message}`, { cause: error });
      if (error.code === PRECONDITION_FAILED && NO_PRIORITY.test(error.said)) throw streamError(what);
      const reply = replyError(what, error.code, error.said);
      if (error.code !== NOT_FOUND || declare) throw reply;
      throw new BridgeError(reply.code, `${reply.message}: make it, or set declare`);
    }
  }

  /** Writes what is accepted, takes nothing more and gives the rest back. Resolves when the broker has said so. */
  close(error: BridgeError): Promise<void> {
    this.#closing ??= this.#close(error);
    return this.#closing;
  }

  /** The connection is gone. */
  lose(error: BridgeError): void {
    this.ledger.lose(error);
    this.receiver.withdraw(this.ledger.signal);
  }

  async #close(error: BridgeError): Promise<void> {
    try {
      this.ledger.flush();
      this.lose(error);
      if (this.#failed) return;
      // On the same channel, so that the broker reads it after the acknowledgements.
      await this.#channel.close();
    } catch {
      // It is closed.
    }
  }

  /** The broker has closed the channel: one more word on it would cost the connection. */
  #fail(error: BridgeError, lost: (error: BridgeError) => void): void {
    this.#failed = true;
    this.lose(error);
    lost(error);
  }

  #take(incoming: Incoming): void {
    // After the end of the ledger it stays the broker's.
    if (!this.ledger.signal.aborted) this.receiver.push(incoming, this.ledger);
  }

  #leave(size: number): void {
    if (!this.ledger.signal.aborted) this.receiver.leave(size);
  }
}

/** What is acknowledged stays in a stream, and nobody remembers how far a consumer has come: it begins with what is new. */
function streamError(what: string): BridgeError {
  return new BridgeError(
    "REJECTED",
    `${what}: it is a stream, of which what comes while the bridge is away would be skipped: bind a quorum queue to the same exchange and name that`,
  );
}
