import { type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { BridgeError, type Clock, type Random } from "@bridge/ports";
import { SYSTEM_ATTRIBUTES } from "../message/inbound-message.ts";
import { sqsError } from "../sqs-error.ts";
import { answerInTime } from "./answer-in-time.ts";

interface PollBounds {
  /** Messages asked for by each request. */
  readonly size: number;
  /** Requests at a time. */
  readonly limit: number;
}

/** What is asked for by one request, and under which name. */
interface Asked {
  readonly size: number;
  /** A FIFO queue's only. */
  readonly attempt: string | undefined;
}

export interface PollsOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly fifo: boolean;
  /** As they are now: they follow the window of the route. */
  readonly bounds: () => PollBounds;
  readonly waitMs: number;
  readonly visibilityMs: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Is told of each request that has ended, also when it brought nothing. */
  readonly onMessages: (messages: readonly Message[]) => void;
  /** SQS has answered, with messages or without. */
  readonly onAnswer: () => void;
  readonly onFailure: (error: BridgeError) => void;
}

/** What SQS may take to answer, beyond the time that it waits for a message. */
export const ANSWER_MS = 10_000;
/** An answer without messages that comes this early was no long poll. */
const EARLY_MS = 500;
const EARLY_IN_A_ROW = 3;
const EARLY_PAUSE_MS = 250;
/** After a failure the first request waits no longer for messages: that SQS is back is to be known soon. */
const FIRST_WAIT_MS = 1_000;
const WHAT = "nothing received from SQS";
const NEVER = new AbortController().signal;

/**
 * Long polls of one queue. None that may still be answered is broken off: SQS might lend it a message all the same. How many run
 * at a time follows what they bring: one on an empty queue, twice as many after each that comes back full, one fewer after one that
 * brings a fifth of that or less.
 */
export class Polls {
  readonly #options: PollsOptions;
  #wanted = 1;
  #running = 0;
  #requested = 0;
  #made = 0;
  #early = 0;
  #failed = false;
  /** Of requests whose answers were lost: asked for under the same name, a FIFO queue gives the same answer again. */
  readonly #unanswered: Asked[] = [];
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
    return this.#requested;
  }

  /** Asks for more, as long as all that may come has room. */
  advance(room: number): void {
    const { size } = this.#options.bounds();
    while (this.#running < this.#wanted && room - this.requested >= size) void this.#poll(size);
  }

  /** After a failure: begins with one request again. */
  calm(): void {
    this.#wanted = 1;
  }

  /** Resolves when no request is under way. */
  async whenEnded(): Promise<void> {
    while (this.#running > 0) await this.#ended.promise;
  }

  async #poll(newSize: number): Promise<void> {
    const { fifo, random } = this.#options;
    const repeated = this.#unanswered.pop();
    // One that is repeated has to be the same.
    const asked = repeated ?? { size: newSize, attempt: fifo ? random.id() : undefined };
    this.#running++;
    this.#requested += asked.size;
    const { clock, onAnswer, onFailure, onMessages } = this.#options;
    const begun = clock.monotonic();
    let messages: readonly Message[] = [];
    try {
      messages = await this.#receive(asked, repeated !== undefined);
      this.#failed = false;
      onAnswer();
      const early = clock.monotonic() - begun < Math.min(EARLY_MS, this.#options.waitMs / 2);
      this.#adapt(messages.length, asked.size, early);
      await this.#hesitate(messages.length, early);
    } catch (thrown) {
      this.#failed = true;
      onFailure(BridgeError.from(thrown));
    } finally {
      this.#running--;
      this.#requested -= asked.size;
      this.#ended.resolve();
      this.#ended = Promise.withResolvers();
    }
    onMessages(messages);
  }

  async #receive(asked: Asked, isRepeated: boolean): Promise<readonly Message[]> {
    this.#made++;
    const { client, queueUrl, fifo, waitMs, visibilityMs, clock } = this.#options;
    const waitsMs = this.#failed && !isRepeated ? Math.min(waitMs, FIRST_WAIT_MS) : waitMs;
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: asked.size,
      WaitTimeSeconds: waitsMs / 1_000,
      VisibilityTimeout: visibilityMs / 1_000,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: [...SYSTEM_ATTRIBUTES[fifo ? "fifo" : "standard"]],
      ReceiveRequestAttemptId: asked.attempt,
    });
    try {
      // The client bounds the time without a word, and neither the wait for credentials nor an answer that comes drop by drop.
      const { Messages = [] } = await answerInTime(WHAT, waitsMs + ANSWER_MS, clock, (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      if (areMessages(Messages)) return Messages;
      throw new BridgeError("UNAVAILABLE", `${WHAT}: the answer is none of SQS`);
    } catch (thrown) {
      const error = sqsError(WHAT, thrown);
      const lost = error.code === "CONNECTION_LOST" || error.code === "TIMEOUT";
      if (asked.attempt !== undefined && lost) this.#unanswered.push(asked);
      throw error;
    }
  }

  #adapt(count: number, size: number, early: boolean): void {
    if (count === size) this.#wanted = Math.min(this.#wanted * 2, this.#options.bounds().limit);
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
