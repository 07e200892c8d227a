import { BridgeError, type Clock, type Envelope, type Logger, type Sender } from "@bridge/ports";
import { Bag } from "@bridge/ports/internal";
import type { BatchBounds } from "./batch-options.ts";
import { batchEnds, type End } from "./batch-ends.ts";
import { Batch } from "./batch.ts";
import { confined } from "./confined.ts";
import { failure } from "./failure.ts";
import { FunctionMessage } from "./function-message.ts";
import type { BatchFunction } from "./handler-function.ts";

/** Hands messages that are sent at the same time to a function together, and settles each by itself. */
export class BatchSender implements Sender {
  readonly #who: string;
  readonly #run: BatchFunction;
  readonly #bounds: BatchBounds;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** How long the first of a batch waits for others. */
  #withinMs: number;
  readonly #running = new Bag<Batch>();
  /** The one that waits for more. */
  #open: Batch | undefined;
  #disposed: BridgeError | undefined;

  constructor(
    name: string,
    run: BatchFunction,
    bounds: BatchBounds,
    seams: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#who = `handler "${name}"`;
    this.#run = run;
    this.#bounds = bounds;
    this.#clock = seams.clock;
    this.#logger = seams.logger;
    this.#withinMs = bounds.withinMs;
  }

  /** As with a single handler, what the handler has seen ends when the handler ends. */
  send(envelope: Envelope, _address: string, signal: AbortSignal, attempt = 1): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#disposed !== undefined) return Promise.reject(this.#disposed);
    const batch = (this.#open ??= this.#opened());
    const sent = batch.add(new FunctionMessage(envelope, attempt), signal);
    if (batch.size >= this.#bounds.size) this.#handOver(batch);
    return sent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= new BridgeError("CONNECTION_LOST", `${this.#who} is called no more`, { charged: false });
    const waiting = this.#open;
    this.#open = undefined;
    waiting?.close();
    for (const member of waiting?.members ?? []) member.end({ failed: this.#disposed });
    for (const batch of this.#running) batch.giveUp(this.#disposed);
  }

  #opened(): Batch {
    const openedAt = this.#clock.monotonic();
    const batch = new Batch((left, reason) => {
      if (BridgeError.is(reason) && reason.code === "TIMEOUT") this.#waitLess(this.#clock.monotonic() - openedAt);
      if (left.size === 0) this.#drop(left);
    });
    this.#clock.delay(this.#withinMs, batch.full).then(
      () => this.#handOver(batch),
      () => {},
    );
    return batch;
  }

  #drop(batch: Batch): void {
    batch.close();
    if (this.#open === batch) this.#open = undefined;
  }

  /** A message was given up after it had waited so long for others: at the next attempt it would again. */
  #waitLess(waitedMs: number): void {
    const withinMs = Math.max(1, Math.floor(waitedMs / 2));
    if (withinMs >= this.#withinMs) return;
    this.#withinMs = withinMs;
    this.#logger.warn(
      "messages waited for their batch until send_timeout was over: batches are handed over sooner now; set within of handler.batch well below send_timeout",
      { handler: this.#who, within_ms: withinMs },
    );
  }

  #handOver(batch: Batch): void {
    if (this.#open !== batch) return;
    this.#open = undefined;
    batch.close();
    void this.#handle(batch);
  }

  async #handle(batch: Batch): Promise<void> {
    const { members } = batch;
    this.#running.add(batch);
    const ends = await this.#ends(batch);
    this.#running.delete(batch);
    members.forEach((member, index) => member.end(ends[index]));
  }

  async #ends(batch: Batch): Promise<readonly End[]> {
    const { members } = batch;
    try {
      // What is returned goes by the order of the list: one that was sorted in place would settle the wrong messages.
      const messages = Object.freeze(members.map(({ message }) => message));
      const returned: unknown = await confined(this.#run, messages, batch);
      return batchEnds(this.#who, returned, members.length);
    } catch (thrown) {
      const failed = { failed: failure(this.#who, thrown) };
      return members.map(() => failed);
    }
  }
}
