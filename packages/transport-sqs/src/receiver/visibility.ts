import { type BatchResultErrorEntry, ChangeMessageVisibilityBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { BridgeError, Clock } from "@bridge/ports";
import { failuresIn } from "../batch-answer.ts";
import { Batches, MAX_ENTRIES } from "../batches.ts";
import { entryError, isHandleGone, sqsError } from "../sqs-error.ts";
import { answerInTime } from "./answer-in-time.ts";
import type { Hold } from "./hold.ts";

export interface VisibilityOptions {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly visibilityMs: number;
  readonly clock: Clock;
  /** What is held at the moment. */
  readonly holds: Iterable<Hold>;
  /** Its visibility is over: others may have it. */
  readonly onLost: (hold: Hold) => void;
}

/** A message may be hidden for twelve hours in all, counted from when it was received; asked for a moment more, SQS refuses. */
export const MAX_HIDDEN_MS = 12 * 3_600_000 - 60_000;
const LINGER_MS = 5;
const MAX_CALLS = 8;
const MAX_ANSWER_MS = 5_000;
const MAX_TICK_MS = 60_000;
const WHAT = "the visibility of a message was not changed";

/** A change that was asked for, rather than an extension. */
interface Change {
  readonly hold: Hold;
  readonly seconds: number;
  readonly done: PromiseWithResolvers<void>;
}

/** Keeps what is held hidden from other consumers, with one timer for all of it, and shows it to them when told to. */
export class Visibility {
  readonly #options: VisibilityOptions;
  readonly #changes: Batches<Change>;
  #ticker: Disposable | undefined;
  #extended = 0;
  #extending = 0;
  #extendRequests = 0;

  constructor(options: VisibilityOptions) {
    this.#options = options;
    this.#changes = new Batches({
      run: (changes) => this.#run(changes),
      sizeOf: () => 0,
      isGone: () => false,
      lingerMs: LINGER_MS,
      maxCalls: MAX_CALLS,
      clock: options.clock,
    });
  }

  counters(): Readonly<Record<string, number>> {
    return {
      extended: this.#extended,
      extending: this.#extending,
      visibilityRequests: this.#changes.made + this.#extendRequests,
    };
  }

  /** Begins to extend. */
  start(): void {
    const { clock, visibilityMs } = this.#options;
    this.#ticker ??= clock.every(Math.min(visibilityMs / 10, MAX_TICK_MS), () => this.#tick());
  }

  /** Shows the message to others after so many seconds. @throws BridgeError when SQS could not be told */
  show(hold: Hold, seconds: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#changes.add({ hold, seconds, done });
    return done.promise;
  }

  /** Resolves when nothing that was asked for is under way. */
  whenIdle(): Promise<void> {
    return this.#changes.whenIdle();
  }

  [Symbol.dispose](): void {
    this.#ticker?.[Symbol.dispose]();
  }

  #tick(): void {
    const { clock, holds, visibilityMs, onLost } = this.#options;
    const now = clock.monotonic();
    const due: Hold[] = [];
    for (const hold of holds) {
      if (hold.until <= now) onLost(hold);
      // Half of the time is left for the attempts that fail.
      else if (!hold.extending && hold.until - now <= visibilityMs / 2) due.push(hold);
    }
    for (let at = 0; at < due.length; at += MAX_ENTRIES) void this.#extend(due.slice(at, at + MAX_ENTRIES), now);
  }

  /** What fails is tried again at the next tick, until it lapses. */
  async #extend(due: readonly Hold[], now: number): Promise<void> {
    const { visibilityMs, onLost } = this.#options;
    const entries = due.flatMap((hold) => {
      const seconds = Math.floor(Math.min(visibilityMs, hold.receivedAt + MAX_HIDDEN_MS - now) / 1_000);
      return now + seconds * 1_000 > hold.until ? [{ hold, seconds }] : [];
    });
    if (entries.length === 0) return;
    for (const { hold } of entries) hold.extending = true;
    this.#extendRequests++;
    this.#extending += entries.length;
    // Of the half that is left for attempts that fail, one that is not answered takes a third.
    const boundMs = Math.min(MAX_ANSWER_MS, visibilityMs / 6);
    const failures = await this.#request(entries, boundMs).catch(() => undefined);
    this.#extending -= entries.length;
    for (const [index, { hold, seconds }] of entries.entries()) {
      hold.extending = false;
      if (failures === undefined || hold.ended) continue;
      const failure = failures[index];
      if (failure !== undefined) {
        if (isHandleGone(failure)) onLost(hold);
        continue;
      }
      hold.until = now + seconds * 1_000;
      this.#extended++;
    }
  }

  async #run(changes: readonly Change[]): Promise<void> {
    try {
      const failures = await this.#request(changes, MAX_ANSWER_MS);
      for (const [index, { done }] of changes.entries()) {
        const failure = failures[index];
        if (failure === undefined) done.resolve();
        else done.reject(entryError(WHAT, failure));
      }
    } catch (thrown) {
      const error: BridgeError = sqsError(WHAT, thrown);
      for (const { done } of changes) done.reject(error);
    }
  }

  /** What failed, in the order of the changes. */
  async #request(
    changes: readonly Pick<Change, "hold" | "seconds">[],
    boundMs: number,
  ): Promise<readonly (BatchResultErrorEntry | undefined)[]> {
    const { client, queueUrl, clock } = this.#options;
    const command = new ChangeMessageVisibilityBatchCommand({
      QueueUrl: queueUrl,
      Entries: changes.map(({ hold, seconds }, index) => ({
        Id: String(index),
        ReceiptHandle: hold.receiptHandle,
        VisibilityTimeout: seconds,
      })),
    });
    const answer = await answerInTime(WHAT, boundMs, clock, (abortSignal) => client.send(command, { abortSignal }));
    return failuresIn(answer, changes.length);
  }
}
