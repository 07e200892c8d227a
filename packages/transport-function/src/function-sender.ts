import { BridgeError, type Envelope, type Sender } from "@bridge/ports";
import { Bag, isThenable } from "@bridge/ports/internal";
import { Call } from "./call.ts";
import { confined } from "./confined.ts";
import { failure } from "./failure.ts";
import { FunctionMessage } from "./function-message.ts";
import { noGenerator } from "./generators.ts";
import type { HandlerFunction } from "./handler-function.ts";

const SENT: Promise<void> = Promise.resolve();

/** Hands each message to a function. */
export class FunctionSender implements Sender {
  readonly #who: string;
  readonly #run: HandlerFunction;
  readonly #calls = new Bag<Call>();
  #disposed: BridgeError | undefined;

  constructor(name: string, run: HandlerFunction) {
    this.#who = `handler "${name}"`;
    this.#run = run;
  }

  /**
   * Ends when the handler ends, also after it was given up: so the engine knows how many handlers do not heed their signal,
   * and calls no more of them than it can bear.
   */
  send(envelope: Envelope, _address: string, signal: AbortSignal, attempt = 1): Promise<void> {
    const call = new Call(signal);
    try {
      signal.throwIfAborted();
      if (this.#disposed !== undefined) throw this.#disposed;
      const returned = confined(this.#run, new FunctionMessage(envelope, attempt), call);
      if (isThenable(returned)) return this.#until(returned, call);
      noGenerator(returned);
    } catch (thrown) {
      call.end();
      return Promise.reject(failure(this.#who, thrown));
    }
    call.end();
    return SENT;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed ??= new BridgeError("CONNECTION_LOST", `${this.#who} is called no more`, { charged: false });
    for (const call of this.#calls) call.giveUp(this.#disposed);
  }

  async #until(returned: PromiseLike<unknown>, call: Call): Promise<void> {
    this.#calls.add(call);
    try {
      noGenerator(await returned);
    } catch (thrown) {
      throw failure(this.#who, thrown);
    } finally {
      this.#calls.delete(call);
      call.end();
    }
  }
}
