import { type Addressing, BridgeError, type Envelope, type Sender } from "@bridge/ports";
import type { MqttSession } from "./mqtt-session.ts";
import { stringProblem } from "./mqtt-string.ts";
import type { SenderOptions } from "./options.ts";
import { publishProperties } from "./outbound-message.ts";
import { topicProblem } from "./topic.ts";

/** Publishes to the topic that is the binding's address. */
export class MqttSender implements Sender {
  readonly #options: SenderOptions;
  readonly #session: MqttSession;
  readonly #now: () => number;
  /** The last topic that was found to be one. */
  #topic: string | undefined;
  #sent = 0;

  constructor(options: SenderOptions, session: MqttSession, now: () => number) {
    this.#options = options;
    this.#session = session;
    this.#now = now;
  }

  /** A value may not make a pattern of the topic, or reach the broker's own. */
  readonly addressing: Addressing = {
    separator: "/",
    fill(value, before) {
      const problem = stringProblem(value);
      if (problem !== undefined) throw unresolved(problem);
      if (/[+#]/.test(value)) throw unresolved('holds "+" or "#", which stand for topics in subscriptions only');
      if (before === "" && value.startsWith("$"))
        throw unresolved('begins with "$", as the topics of the broker\'s own do');
      return value;
    },
  };

  async send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { publisher, idProperty, hasProperties } = this.#session;
    if (publisher === undefined) {
      throw new BridgeError("CONNECTION_LOST", "the session is not connected", { charged: false });
    }
    this.#check(address);
    const properties = hasProperties ? publishProperties(envelope, idProperty, this.#now) : undefined;
    const { qos, retain } = this.#options;
    await publisher.publish({ topic: address, qos, retain, properties }, envelope.payload, signal);
    this.#sent++;
  }

  counters(): Readonly<Record<string, number>> {
    return { sent: this.#sent };
  }

  /** What is under way ends with the session's connection. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #check(topic: string): void {
    if (topic === this.#topic) return;
    const problem = topicProblem(topic);
    if (problem !== undefined) {
      throw new BridgeError("BINDING_UNRESOLVED", `the binding's address is no topic to publish to: it ${problem}`);
    }
    this.#topic = topic;
  }
}

function unresolved(why: string): BridgeError {
  return new BridgeError("BINDING_UNRESOLVED", `a value for the binding's address ${why}`);
}
