import type { SQSClientConfig } from "@aws-sdk/client-sqs";
import { type Addressing, BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import { outboundMessage, type QueueTraits } from "../message/outbound-message.ts";
import type { SenderOptions } from "../options.ts";
import { isFifo, queueUrlProblem } from "../queue-url.ts";
import { sqsClient } from "../sqs-client.ts";
import type { PendingSend } from "./pending-send.ts";
import { SendQueue } from "./send-queue.ts";

/** Requests at a time, each with up to ten messages. */
const CONNECTIONS = 50;
/** A backstop: the engine's signal bounds a send, and a request ends with its last send. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Queues that are remembered; beyond it, those that nothing is sent to are forgotten. */
const MAX_QUEUES = 100;

/** Sends to the queue that is the binding's address, or the sender's own. */
export class SqsSender implements Sender {
  readonly #options: SenderOptions;
  readonly #clock: Clock;
  readonly #client;
  readonly #queues = new Map<string, { readonly queue: SendQueue; readonly traits: QueueTraits }>();
  readonly #pending = new Set<PendingSend>();
  #sent = 0;
  #forgotten = 0;
  #disposed = false;

  constructor(options: SenderOptions, configured: SQSClientConfig, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#client = sqsClient(configured, { connections: CONNECTIONS, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  }

  /** A value may be part of a path, but not lead elsewhere. */
  readonly addressing: Addressing = {
    fill(value, before) {
      if (!/^https?:\/\/[^/?#]+\/[^?#]*$/.test(before)) {
        throw unresolved("a placeholder stands in the path of the queue's URL only");
      }
      if (/^[\w-]+(?:\.fifo)?$/.test(value)) return value;
      throw unresolved("a value for the binding's address is no name of a queue");
    },
  };

  async send(envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#disposed) throw closed();
    const { queue, traits } = this.#queue(address === "" ? this.#options.queue_url : address);
    const send = queue.send(outboundMessage(envelope, traits), signal);
    this.#pending.add(send);
    try {
      await send.done;
      this.#sent++;
    } finally {
      this.#pending.delete(send);
    }
  }

  counters(): Readonly<Record<string, number>> {
    let requests = this.#forgotten;
    for (const { queue } of this.#queues.values()) requests += queue.requests;
    return { sent: this.#sent, sendRequests: requests };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const send of this.#pending) {
      send.request?.leave();
      send.reject(closed());
    }
    this.#client.destroy();
  }

  #queue(url: string | undefined): { readonly queue: SendQueue; readonly traits: QueueTraits } {
    if (url === undefined) throw unresolved("neither the binding has an address nor the sender a queue_url");
    let known = this.#queues.get(url);
    if (known === undefined) {
      const problem = queueUrlProblem(url);
      if (problem !== undefined) throw unresolved(`the binding's address ${problem}`);
      this.#forgetIdle();
      const traits = { fifo: isFifo(url), groupId: this.#options.message_group_id };
      known = { queue: new SendQueue(this.#client, url, this.#clock, CONNECTIONS), traits };
      this.#queues.set(url, known);
    }
    return known;
  }

  /** Addresses may come out of messages, so there is no end of them. */
  #forgetIdle(): void {
    if (this.#queues.size < MAX_QUEUES) return;
    for (const [url, { queue }] of this.#queues) {
      if (!queue.isIdle) continue;
      this.#forgotten += queue.requests;
      this.#queues.delete(url);
    }
  }
}

function unresolved(why: string): BridgeError {
  return new BridgeError("BINDING_UNRESOLVED", why);
}

function closed(): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the sender is closed", { charged: false });
}
