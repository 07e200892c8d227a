import { type Abortable, unwatchAbort, watchAbort } from "@bridge/ports";
import type { Dispatcher } from "undici";

/** What is kept of a response. */
export interface Answer {
  readonly status: number;
  /** The `Retry-After` header, as it was sent. */
  readonly retryAfter: string | undefined;
}

/** A response's body is read to its end, so that its connection can be used again, but not beyond this many bytes. */
const MAX_RESPONSE_BYTES = 65_536;

/**
 * A request on its way, for a dispatcher to carry it. Of its response nothing but the head is kept. When the signal
 * aborts, the request's connection is cut.
 *
 * The dispatcher's own `request` costs a quarter more CPU for a body stream nobody reads.
 */
export class Call implements Dispatcher.DispatchHandler, Abortable {
  readonly signal: AbortSignal;
  readonly #onEnd: (answer: Answer | undefined, error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #answer: Answer | undefined;
  #received = 0;

  /** `onEnd` gets the answer or, without one, the transport's error or the signal's reason. Its first word counts. */
  constructor(signal: AbortSignal, onEnd: (answer: Answer | undefined, error: unknown) => void) {
    this.signal = signal;
    this.#onEnd = onEnd;
    watchAbort(this);
  }

  onAbort(): void {
    this.#onEnd(undefined, this.signal.reason);
    this.#controller?.abort(this.signal.reason as Error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection: nothing of it is sent.
    if (this.signal.aborted) controller.abort(this.signal.reason as Error);
  }

  onResponseStart(_controller: unknown, status: number, headers: Readonly<Record<string, unknown>>): void {
    // Informational responses come before the one that counts.
    if (status < 200) return;
    const retryAfter = headers["retry-after"];
    this.#answer = { status, retryAfter: typeof retryAfter === "string" ? retryAfter : undefined };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > MAX_RESPONSE_BYTES) controller.abort(new Error("the response is longer than anybody reads"));
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(error);
  }

  /** A response that was cut short has said all that matters in its head. */
  #end(error: Error | undefined): void {
    unwatchAbort(this);
    this.#onEnd(this.#answer, error);
  }
}
