import { BridgeError } from "@bridge/ports";
import type { Channel } from "amqplib";
import { AckLedger } from "./ack-ledger.ts";
import type { AmqpReceiver } from "./amqp-receiver.ts";
import { replyError, saidIn } from "./reply-codes.ts";
import type { Wire } from "./wire.ts";

const NOT_FOUND = 404;

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
    const channel = await wire.channel((error) => {
      if (consumer === undefined) return;
      consumer.#fail(replyError(`the channel of queue ${queue} was closed`, error.code ?? 0, saidIn(error)), lost);
    });
    try {
      await channel.prefetch(receiver.prefetch);
      if (declare) await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": queue_type } });
      const opened = new QueueConsumer(receiver, channel);
      await channel.consume(queue, (message) => {
        if (message !== null) opened.#take(message);
        else
          lost(
            new BridgeError(
              "CONNECTION_LOST",
              `the broker consumes queue ${queue} for us no more: it was deleted, or has moved`,
            ),
          );
      });
      consumer = opened;
      return opened;
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: number };
      if (code !== undefined) {
        const reply = replyError(what, code, saidIn(error as Error));
        if (code !== NOT_FOUND || declare) throw reply;
        throw new BridgeError(reply.code, `${reply.message}: make it, or set declare`);
      }
      throw new BridgeError("CONNECTION_LOST", `${what}: ${message}`, { cause: error });
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

  #take(message: Parameters<AmqpReceiver["push"]>[0]): void {
    // After the end of the ledger it stays the broker's.
    if (!this.ledger.signal.aborted) this.receiver.push(message, this.ledger);
  }
}
