import { type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { BridgeError, type Clock, type Random } from "@bridge/ports";
import { SYSTEM_ATTRIBUTES } from "../message/inbound-message.ts";
import { sqsError } from "../sqs-error.ts";

export interface PollsOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly fifo: boolean;
  /** Messages asked for by each request. */
  readonly size: number;
  readonly waitMs: number;
  readonly visibilityMs: number;
  /** Requests at a time. */
  readonly limit: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Is told of each request that has ended, also when it brought nothing. */
  readonly onMessages: (messages: readonly Message[]) => void;
  /** SQS has answered, with messages or without. */
  readonly onAnswer: () => void;
  readonly onFailure: (error: BridgeError) => void;
}

/** An answer without messages that comes this early was no long poll. */
const EARLY_MS = 500;
const EARLY_IN_A_ROW = 3;
const EARLY_PAUSE_MS = 250;
/** After a failure the first request waits no longer for messages: that SQS is back is to be known soon. */
const FIRST_WAIT_MS = 1_000;
const WHAT = "nothing received from SQS";
const NEVER = new AbortController().signal;

/**
 * Long polls of one queue. None is broken off: SQS might lend it a message all the same. How many run at a time follows what they bring: one on an empty queue, twice as many after each
 * that comes back full, one fewer after one that brings a fifth of that or less.
 */
export class Polls {
  readonly #options: PollsOptions;
  #wanted = 1;
  #running = 0;
  #made = 0;
  #early = 0;
  #failed = false;
  /** Of requests whose answers were lost: asked for under the same name, a FIFO queue gives the same answer again. */
  readonly #unanswered: string[] = [];
  #ended = Promise.withResolvers<void>();

  constructor(options: PollsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  /** Requests that were made. */
  get made(): number {
    return this.#made;
  }

  /** Messages that running requests may bring. */
  get requested(): number {
    return this.#running * this.#options.size;
  }

  /** Asks for more, as long as all that may come has room. */
  advance(room: number): void {
    const { size } = this.#options;
    while (this.#running < this.#wanted && room - this.requested >= size) void this.#poll();
  }

  /** After a failure: begins with one request again. */
  calm(): void {
    this.#wanted = 1;
  }

  /** Resolves when no request is under way. */
  async whenEnded(): Promise<void> {
    while (this.#running > 0) await this.#ended.promise;
  }

  async #poll(): Promise<void> {
    this.#running++;
    const { clock, onAnswer, onFailure, onMessages } = this.#options;
    const begun = clock.monotonic();
    let messages: readonly Message[] = [];
    try {
      messages = await this.#receive();
      this.#failed = false;
      onAnswer();
      const early = clock.monotonic() - begun < Math.min(EARLY_MS, this.#options.waitMs / 2);
      this.#adapt(messages.length, early);
      await this.#hesitate(messages.length, early);
    } catch (thrown) {
      this.#failed = true;
      onFailure(BridgeError.from(thrown));
    } finally {
      this.#running--;
      this.#ended.resolve();
      this.#ended = Promise.withResolvers();
    }
    onMessages(messages);
  }

  async #receive(): Promise<readonly Message[]> {
    this.#made++;
    const { client, queueUrl, fifo, size, waitMs, visibilityMs, random } = this.#options;
    const repeated = this.#unanswered.pop();
    const attempt = fifo ? (repeated ?? random.id()) : undefined;
    // One that is repeated has to be the same.
    const waitsMs = this.#failed && repeated === undefined ? Math.min(waitMs, FIRST_WAIT_MS) : waitMs;
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: size,
      WaitTimeSeconds: waitsMs / 1_000,
      VisibilityTimeout: visibilityMs / 1_000,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: [...SYSTEM_ATTRIBUTES[fifo ? "fifo" : "standard"]],
      ReceiveRequestAttemptId: attempt,
    });
    try {
      const { Messages = [] } = await client.send(command);
      if (areMessages(Messages)) return Messages;
      throw new BridgeError("UNAVAILABLE", `${WHAT}: the answer is none of SQS`);
    } catch (thrown) {
      const error = sqsError(WHAT, thrown);
      const lost = error.code === "CONNECTION_LOST" || error.code === "TIMEOUT";
      if (attempt !== undefined && lost) this.#unanswered.push(attempt);
      throw error;
    }
  }

  #adapt(count: number, early: boolean): void {
    const { size, limit } = this.#options;
    if (count === size) this.#wanted = Math.min(this.#wanted * 2, limit);
    else if (count === 0 && !early) this.#wanted = 1;
    else if (count * 5 <= size) this.#wanted = Math.max(1, this.#wanted - 1);
  }

  /** A server that does not wait is not to be asked without a pause. Of several polls some may wake for nothing. */
  async #hesitate(count: number, early: boolean): Promise<void> {
    this.#early = count === 0 && early && this.#wanted === 1 ? this.#early + 1 : 0;
    if (this.#early < EARLY_IN_A_ROW) return;
    await this.#options.clock.delay(EARLY_PAUSE_MS, NEVER);
  }
}

/** The library takes what it is given. */
function areMessages(messages: unknown): messages is readonly Message[] {
  if (!Array.isArray(messages)) return false;
  return messages.every(
    (message: Message | null) => typeof message?.ReceiptHandle === "string" && isText(message.Body),
  );
}

function isText(body: unknown): boolean {
  return body === undefined || typeof body === "string";
}
