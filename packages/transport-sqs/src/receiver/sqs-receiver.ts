import type { Message, SQSClient, SQSClientConfig } from "@aws-sdk/client-sqs";
import { BridgeError, type Delivery, type Receiver, type Seams, type Settlement } from "@bridge/ports";
import { SignalPool } from "@bridge/ports/internal";
import type { ReceiverOptions } from "../options.ts";
import { isFifo } from "../queue-url.ts";
import { sqsClient } from "../sqs-client.ts";
import { Deletes, late } from "./deletes.ts";
import { Hold, type Keeper } from "./hold.ts";
import { Holdings } from "./holdings.ts";
import { inspectQueue } from "./inspect-queue.ts";
import { ANSWER_MS, Polls } from "./polls.ts";
import { MAX_HIDDEN_MS, Visibility } from "./visibility.ts";

export interface SqsReceiverContext extends Seams {
  readonly id: string;
  /** May change while the receiver lives. */
  readonly maxInFlight: number;
  readonly maxReplayAttempts: number;
}

const CONNECTIONS = 50;
const MAX_POLLS = 20;
/** How long a dispose waits for what is under way; the engine gives it a little more. */
const CLOSE_MS = 4_000;

/**
 * Takes messages from one queue, and keeps them hidden from others until they are settled. What is unsettled when the
 * iteration ends is shown again at once.
 */
export class SqsReceiver implements Receiver, Keeper {
  readonly #options: ReceiverOptions;
  readonly #context: SqsReceiverContext;
  readonly #fifo: boolean;
  readonly #client: SQSClient;
  readonly #polls: Polls;
  readonly #visibility: Visibility;
  readonly #deletes: Deletes;
  readonly #holdings = new Holdings();
  readonly #signals = new SignalPool();
  #waiting: Hold[] = [];
  #stopped = true;
  #failure: BridgeError | undefined;
  #present: (() => void) | undefined;
  #wake = Promise.withResolvers<void>();
  #closing: Promise<void> | undefined;
  readonly #counts = { received: 0, released: 0, givenBack: 0, lost: 0, notSettled: 0 };

  constructor(options: ReceiverOptions, configured: SQSClientConfig, context: SqsReceiverContext) {
    this.#options = options;
    this.#context = context;
    const { queue_url: queueUrl, visibility_timeout: visibilityMs, wait_time: waitMs } = options;
    const { clock, random } = context;
    this.#fifo = isFifo(queueUrl);
    const client = sqsClient(configured, { connections: CONNECTIONS, requestTimeoutMs: waitMs + ANSWER_MS });
    this.#client = client;
    this.#polls = new Polls({
      client,
      queueUrl,
      fifo: this.#fifo,
      bounds: () => ({ size: this.#size, limit: Math.min(MAX_POLLS, Math.ceil(this.#capacity / this.#size)) }),
      waitMs,
      visibilityMs,
      clock,
      random,
      onMessages: (messages) => this.#take(messages),
      onAnswer: () => this.#present?.(),
      onFailure: (error) => this.#fail(error),
    });
    this.#visibility = new Visibility({
      client,
      queueUrl,
      visibilityMs,
      clock,
      holds: this.#holdings,
      onLost: (hold) => this.#lose(hold),
    });
    this.#deletes = new Deletes({ client, queueUrl, clock, random, onDenied: (error) => this.#fail(error) });
  }

  async open(signal: AbortSignal): Promise<void> {
    const { id: receiverId, maxReplayAttempts, logger } = this.#context;
    const queueUrl = this.#options.queue_url;
    await inspectQueue(this.#client, { receiverId, queueUrl, maxReplayAttempts, logger }, signal);
  }

  async *receive(signal: AbortSignal, present?: () => void): AsyncGenerator<Delivery, void, undefined> {
    if (signal.aborted || this.#closing !== undefined) return;
    this.#present = present;
    const onAbort = (): void => this.#stop();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#begin();
    let lost = false;
    try {
      while (!this.#stopped) {
        const hold = this.#next();
        if (hold !== undefined) {
          yield hold;
          continue;
        }
        if (this.#failure !== undefined) {
          lost = true;
          throw this.#failure;
        }
        this.#wake = Promise.withResolvers();
        this.#advance();
        await this.#wake.promise;
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      // A source that is lost keeps what it has handed out: the engine asks it again.
      if (!lost) this.#stop();
    }
  }

  settle(hold: Hold, settlement: Settlement): Promise<void> {
    if (!hold.ended && hold.until <= this.#context.clock.monotonic()) this.#lose(hold);
    if (hold.ended || hold.settling) return Promise.reject(late());
    switch (settlement.kind) {
      case "accept":
        return this.#accept(hold);
      case "release":
        return this.#release(hold, settlement.delayMs);
      case "refuse":
        return Promise.reject(new BridgeError("INTERNAL", "SQS cannot tell the owner of a message anything"));
    }
  }

  counters(): Readonly<Record<string, number>> {
    return {
      ...this.#counts,
      ...this.#deletes.counters(),
      ...this.#visibility.counters(),
      held: this.#holdings.size,
      waiting: this.#waiting.length,
      polls: this.#polls.running,
      receiveRequests: this.#polls.made,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Messages asked for by one request. */
  get #size(): number {
    return Math.min(this.#options.max_messages, this.#context.maxInFlight);
  }

  /** The most messages held: the route's window, and one request more. */
  get #capacity(): number {
    return this.#context.maxInFlight + this.#size;
  }

  #begin(): void {
    this.#stopped = false;
    this.#failure = undefined;
    this.#polls.calm();
    this.#visibility.start();
  }

  /** The next message that is still ours. */
  #next(): Hold | undefined {
    for (let hold = this.#waiting.shift(); hold !== undefined; hold = this.#waiting.shift()) {
      this.#advance();
      if (hold.until <= this.#context.clock.monotonic()) this.#lose(hold);
      if (!hold.ended) return hold;
    }
    return undefined;
  }

  #advance(): void {
    if (this.#stopped || this.#failure !== undefined) return;
    this.#polls.advance(this.#capacity - this.#holdings.size);
  }

  #take(messages: readonly Message[]): void {
    const receivedAt = this.#context.clock.monotonic();
    const until = receivedAt + this.#options.visibility_timeout;
    const holds = messages.map((message) => new Hold(message, this.#fifo, this, this.#signals, { receivedAt, until }));
    this.#counts.received += holds.length;
    if (this.#stopped) {
      for (const hold of holds) this.#giveBack(hold);
      return;
    }
    const groups = new Set(holds.flatMap(({ group }) => (group === undefined ? [] : [group])));
    // A group whose next messages are handed out is no longer held by what we have of it.
    for (const group of groups) for (const hold of this.#holdings.ofGroup(group)) if (!hold.settling) this.#lose(hold);
    for (const hold of holds) this.#holdings.add(hold);
    this.#waiting.push(...holds);
    this.#advance();
    this.#wake.resolve();
  }

  async #accept(hold: Hold): Promise<void> {
    hold.settling = true;
    try {
      await this.#deletes.delete(hold);
      this.#end(hold);
      hold.deleted();
    } catch (error) {
      this.#counts.notSettled++;
      this.#giveBackBehind(hold);
      this.#end(hold);
      throw error;
    } finally {
      this.#advance();
    }
  }

  async #release(hold: Hold, delayMs: number): Promise<void> {
    const left = hold.receivedAt + MAX_HIDDEN_MS - this.#context.clock.monotonic();
    const seconds = Math.min(Math.ceil(delayMs / 1_000), Math.max(0, Math.floor(left / 1_000)));
    this.#giveBackBehind(hold);
    this.#end(hold);
    this.#counts.released++;
    try {
      await this.#visibility.show(hold, seconds);
    } finally {
      this.#advance();
    }
  }

  /** Others may have it: what is done about it here ends, and of its group nothing may overtake it. */
  #lose(hold: Hold): void {
    if (hold.ended) return;
    this.#counts.lost++;
    this.#context.logger.warn("the queue has taken a message back before it was settled", {
      message_id: hold.messageId,
    });
    this.#giveBackBehind(hold);
    this.#end(hold);
    hold.takenBack(late());
    this.#advance();
  }

  /** The rest of a group comes again behind its head: it must not be handled before it. */
  #giveBackBehind(hold: Hold): void {
    for (const follower of this.#holdings.behind(hold)) if (!follower.settling) this.#giveBack(follower);
  }

  #giveBack(hold: Hold): void {
    this.#end(hold);
    this.#counts.givenBack++;
    hold.takenBack(new BridgeError("CONNECTION_LOST", "the message was given back to its queue"));
    // Not told, the queue shows it when its visibility timeout is over.
    void this.#visibility.show(hold, 0).catch(() => {});
  }

  #end(hold: Hold): void {
    hold.ended = true;
    this.#holdings.remove(hold);
  }

  #fail(error: BridgeError): void {
    this.#failure ??= error;
    this.#wake.resolve();
  }

  #stop(): void {
    this.#stopped = true;
    this.#waiting = [];
    this.#signals.clear();
    for (const hold of this.#holdings) if (!hold.settling) this.#giveBack(hold);
    this.#wake.resolve();
  }

  async #close(): Promise<void> {
    this.#stop();
    const closed = new AbortController();
    await Promise.race([this.#finish(), this.#context.clock.delay(CLOSE_MS, closed.signal).catch(() => {})]);
    closed.abort();
    this.#deletes[Symbol.dispose]();
    this.#visibility[Symbol.dispose]();
    if (this.#polls.running === 0) this.#client.destroy();
    else void this.#outlive();
  }

  /**
   * A poll that is broken off may still be given a message, hidden until its visibility timeout is over. So one that is
   * out for longer than a dispose may wait is waited for all the same, as long as the process is there: what it brings goes
   * back. It ends by itself, or by the client's own bound.
   */
  async #outlive(): Promise<void> {
    await this.#polls.whenEnded();
    await this.#visibility.whenIdle();
    this.#client.destroy();
  }

  /** Polls end by themselves, and what they bring goes back. */
  async #finish(): Promise<void> {
    await Promise.all([this.#polls.whenEnded(), this.#deletes.whenIdle()]);
    await this.#visibility.whenIdle();
  }
}
