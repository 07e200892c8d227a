import { type Addressing, BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import type { AmqpSession } from "./amqp-session.ts";
import type { SenderOptions } from "./options.ts";
import { publishFields } from "./outbound-message.ts";
import type { Publishing } from "./publisher.ts";
import { isTooLong, MAX_SHORT_BYTES } from "./short-string.ts";

/** Why nothing can be published with a routing key, as the end of a sentence; `undefined` when it can. */
export function routingKeyProblem(key: string): string | undefined {
  return isTooLong(key) ? `is longer than ${MAX_SHORT_BYTES} bytes, which no routing key is` : undefined;
}

/** Publishes to its exchange, with the binding's address as the routing key. */
export class AmqpSender implements Sender, Publishing {
  readonly #options: SenderOptions;
  readonly #session: AmqpSession;
  readonly #clock: Clock;
  #sent = 0;

  constructor(options: SenderOptions, session: AmqpSession, clock: Clock) {
    this.#options = options;
    this.#session = session;
    this.#clock = clock;
  }

  /** A routing key has levels to a topic exchange only, and patterns are what is bound there: a value may hold both. */
  readonly addressing: Addressing = {
    fill(value) {
      if (!/\p{Cc}/u.test(value)) return value;
      throw new BridgeError("BINDING_UNRESOLVED", "a value for the binding's address holds a control character");
    },
  };

  get exchange(): string {
    return this.#options.exchange;
  }

  /** Not an async function: that would keep a frame and a promise more for each message that is under way. */
  send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    try {
      return this.#publish(envelope, address, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  confirmed(): void {
    this.#sent++;
  }

  counters(): Readonly<Record<string, number>> {
    return { sent: this.#sent };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const error = new BridgeError("CONNECTION_LOST", "the sender was closed");
    this.#session.target?.forget(this, error);
  }

  #publish(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { target } = this.#session;
    if (target === undefined) {
      throw new BridgeError("CONNECTION_LOST", "the session is not connected", { charged: false });
    }
    this.#check(address);
    target.check(envelope.payload.length);
    const fields = publishFields(envelope, this.#options, address, target.wire.frameMax, this.#clock.now());
    return target.publisherOf(this).publish(fields, envelope.payload, signal);
  }

  #check(key: string): void {
    const problem = routingKeyProblem(key);
    if (problem !== undefined) throw new BridgeError("BINDING_UNRESOLVED", `the binding's address ${problem}`);
    if (key === "" && this.#options.exchange === "") {
      throw new BridgeError(
        "BINDING_UNRESOLVED",
        "the binding has no address: with the default exchange it is the name of a queue",
      );
    }
  }
}
