import {
  type SendMessageBatchCommandOutput,
  SendMessageBatchCommand,
  type SendMessageBatchResultEntry,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { BridgeError, Clock } from "@bridge/ports";
import { failuresIn } from "../batch-answer.ts";
import { Batches } from "../batches.ts";
import { MAX_BYTES, type OutboundMessage } from "../message/outbound-message.ts";
import { entryError, sqsError } from "../sqs-error.ts";
import { PendingSend, SendRequest } from "./pending-send.ts";

const LINGER_MS = 5;
/** What queues take that were made when less was allowed. */
const FORMER_MAX_BYTES = 262_144;
const WHAT = "not sent to SQS";

/** Sends to one queue, in batches of what is sent at the same time. */
export class SendQueue {
  readonly #client: SQSClient;
  readonly #url: string;
  readonly #batches: Batches<PendingSend>;
  /** Requests for one message of a batch that was refused as a whole. */
  #singles = 0;

  constructor(client: SQSClient, url: string, clock: Clock, maxCalls: number) {
    this.#client = client;
    this.#url = url;
    this.#batches = new Batches({
      run: (sends) => this.#run(sends),
      sizeOf: ({ message }) => message.size,
      isGone: ({ gone }) => gone,
      lingerMs: LINGER_MS,
      maxCalls,
      clock,
    });
    this.#batches.maxBytes = MAX_BYTES;
  }

  get requests(): number {
    return this.#batches.made + this.#singles;
  }

  get isIdle(): boolean {
    return this.#batches.isIdle;
  }

  /** Resolves when SQS has taken the message. */
  send(message: OutboundMessage, signal: AbortSignal): PendingSend {
    const send = new PendingSend(message, signal);
    this.#batches.add(send);
    return send;
  }

  async #run(sends: readonly PendingSend[]): Promise<void> {
    const request = new SendRequest(sends);
    let output: SendMessageBatchCommandOutput;
    try {
      output = await this.#client.send(this.#command(sends), { abortSignal: request.signal });
    } catch (thrown) {
      await this.#failed(sends, sqsError(WHAT, thrown));
      return;
    }
    const failures = failuresIn(output, sends.length, hasMessageId);
    for (const [index, send] of sends.entries()) {
      const failure = failures[index];
      if (failure === undefined) send.resolve();
      else send.reject(entryError(WHAT, failure));
    }
  }

  #command(sends: readonly PendingSend[]): SendMessageBatchCommand {
    return new SendMessageBatchCommand({
      QueueUrl: this.#url,
      Entries: sends.map(({ message }, index) => ({ ...message.entry, Id: String(index) })),
    });
  }

  /** A batch that is refused as a whole may be refused because of one message: the others are not to suffer for it. */
  async #failed(sends: readonly PendingSend[], error: BridgeError): Promise<void> {
    const waiting = sends.filter(({ gone }) => !gone);
    if (error.class !== "rejected" || sends.length === 1) {
      for (const send of waiting) send.reject(error);
      return;
    }
    if (error.code === "PAYLOAD_TOO_LARGE") this.#batches.maxBytes = FORMER_MAX_BYTES;
    this.#singles += waiting.length;
    // One after another: of one group they stay in order.
    for (const send of waiting) if (!send.gone) await this.#run([send]);
  }
}

/** What SQS has kept has one: a stub or a proxy may answer without. */
function hasMessageId({ MessageId }: SendMessageBatchResultEntry): boolean {
  return typeof MessageId === "string" && MessageId !== "";
}
