import { DeleteMessageBatchCommand, type DeleteMessageBatchCommandOutput, type SQSClient } from "@aws-sdk/client-sqs";
import { BridgeError, type Clock, type Random } from "@bridge/ports";
import { failuresIn } from "../batch-answer.ts";
import { Batches } from "../batches.ts";
import { entryError, isHandleGone, sqsError } from "../sqs-error.ts";
import { answerInTime } from "./answer-in-time.ts";
import type { Hold } from "./hold.ts";

export interface DeletesOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Nothing can be deleted: it is not allowed, or the queue is gone. */
  readonly onDenied: (error: BridgeError) => void;
}

const LINGER_MS = 5;
const MAX_CALLS = 16;
const ANSWER_MS = 5_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
const WHAT = "the message was not deleted from its queue";

interface Delete {
  readonly hold: Hold;
  readonly done: PromiseWithResolvers<void>;
  attempts: number;
}

/** Deletes what was accepted, in batches. What fails for a time is tried again for as long as the message is ours. */
export class Deletes {
  readonly #options: DeletesOptions;
  readonly #batches: Batches<Delete>;
  readonly #closed = new AbortController();
  readonly #pending = new Set<Promise<void>>();
  #deleted = 0;

  constructor(options: DeletesOptions) {
    this.#options = options;
    this.#batches = new Batches({
      run: (deletes) => this.#run(deletes),
      sizeOf: () => 0,
      isGone: () => false,
      lingerMs: LINGER_MS,
      maxCalls: MAX_CALLS,
      clock: options.clock,
    });
  }

  counters(): Readonly<Record<string, number>> {
    return { deleted: this.#deleted, deleteRequests: this.#batches.made };
  }

  /** Resolves when SQS has forgotten the message. @throws BridgeError when it will hand it out again */
  async delete(hold: Hold): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#pending.add(done.promise);
    this.#batches.add({ hold, done, attempts: 0 });
    try {
      await done.promise;
      this.#deleted++;
    } finally {
      this.#pending.delete(done.promise);
    }
  }

  /** Resolves when nothing is under way. */
  async whenIdle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** What is not deleted by now is not tried again. */
  [Symbol.dispose](): void {
    this.#closed.abort(new BridgeError("CONNECTION_LOST", `${WHAT}: the receiver is closed`));
  }

  async #run(deletes: readonly Delete[]): Promise<void> {
    const ours = deletes.filter(({ hold }) => !hold.ended);
    for (const { done } of deletes.filter(({ hold }) => hold.ended)) done.reject(late());
    if (ours.length === 0) return;
    try {
      const failures = failuresIn(await this.#request(ours), ours.length);
      for (const [index, each] of ours.entries()) {
        const failure = failures[index];
        if (failure === undefined) each.done.resolve();
        else if (isHandleGone(failure)) each.done.reject(late());
        else this.#failed(each, entryError(WHAT, failure));
      }
    } catch (thrown) {
      const error = sqsError(WHAT, thrown);
      if (error.class === "permanent") this.#options.onDenied(error);
      for (const each of ours) this.#failed(each, error);
    }
  }

  #request(deletes: readonly Delete[]): Promise<DeleteMessageBatchCommandOutput> {
    const { client, queueUrl, clock } = this.#options;
    const command = new DeleteMessageBatchCommand({
      QueueUrl: queueUrl,
      Entries: deletes.map(({ hold }, index) => ({ Id: String(index), ReceiptHandle: hold.receiptHandle })),
    });
    return answerInTime(WHAT, ANSWER_MS, clock, (abortSignal) => client.send(command, { abortSignal }));
  }

  #failed(each: Delete, error: BridgeError): void {
    if (error.class === "transient") void this.#again(each);
    else each.done.reject(error);
  }

  async #again(each: Delete): Promise<void> {
    const { clock, random } = this.#options;
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** each.attempts++, LAST_RETRY_MS);
    try {
      await clock.delay(backoff * (0.5 + random.next() / 2), this.#closed.signal);
      this.#batches.add(each);
    } catch (error) {
      each.done.reject(error);
    }
  }
}

/** For a settlement of what SQS has, or may have, handed to somebody else. */
export function late(): BridgeError {
  return new BridgeError("CONNECTION_LOST", "the queue has taken the message back: its visibility timeout was over");
}
