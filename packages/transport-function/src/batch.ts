import { type Abortable, unwatchAbort, watchAbort } from "@bridge/ports";
import { type Placed } from "@bridge/ports/internal";
import type { End } from "./batch-ends.ts";
import type { FunctionMessage } from "./function-message.ts";
import type { HandlerContext } from "./handler-function.ts";

/** One message of a batch, and who waits for it. */
export class Member implements Abortable {
  readonly message: FunctionMessage;
  readonly signal: AbortSignal;
  readonly #batch: Batch;
  readonly #waits = Promise.withResolvers<void>();

  constructor(message: FunctionMessage, signal: AbortSignal, batch: Batch) {
    this.message = message;
    this.signal = signal;
    this.#batch = batch;
    watchAbort(this);
  }

  get sent(): Promise<void> {
    return this.#waits.promise;
  }

  readonly onAbort = (): void => this.#batch.givenUp(this);

  end(end: End): void {
    unwatchAbort(this);
    if (end === undefined) this.#waits.resolve();
    else this.#waits.reject(end.failed);
  }
}

/** Messages that are handed to a handler together. */
export class Batch implements Placed, HandlerContext {
  place = -1;
  #members: Member[] = [];
  #waitedFor = 0;
  #handedOver = false;
  #reason: unknown;
  #own: AbortController | undefined;
  /** Aborts when it need not wait for others any more. */
  readonly #full = new AbortController();
  readonly #left: (batch: Batch, reason: unknown) => void;

  /** `left` is called when somebody does not wait any more for a message that the handler has not seen. */
  constructor(left: (batch: Batch, reason: unknown) => void) {
    this.#left = left;
  }

  get size(): number {
    return this.#members.length;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  get full(): AbortSignal {
    return this.#full.signal;
  }

  /** Of the handler: ends when nobody waits for any of the messages. */
  get signal(): AbortSignal {
    if (this.#own === undefined) {
      this.#own = new AbortController();
      if (this.#handedOver && this.#waitedFor === 0) this.#own.abort(this.#reason);
    }
    return this.#own.signal;
  }

  add(message: FunctionMessage, signal: AbortSignal): Promise<void> {
    const member = new Member(message, signal, this);
    this.#members.push(member);
    this.#waitedFor++;
    return member.sent;
  }

  /** Waits for no others. */
  close(): void {
    this.#handedOver = true;
    this.#full.abort();
  }

  /** Nobody waits for it any more. What the handler has seen goes on until the handler ends. */
  givenUp(member: Member): void {
    this.#waitedFor--;
    this.#reason = member.signal.reason;
    if (this.#handedOver) {
      if (this.#waitedFor === 0) this.#own?.abort(this.#reason);
      return;
    }
    this.#members = this.#members.filter((other) => other !== member);
    member.end({ failed: this.#reason });
    this.#left(this, this.#reason);
  }

  /** Tells the handler that nobody waits, whoever still does. */
  giveUp(reason: Error): void {
    this.#reason = reason;
    this.#waitedFor = 0;
    (this.#own ??= new AbortController()).abort(reason);
  }
}
