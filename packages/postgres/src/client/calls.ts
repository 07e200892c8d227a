import { BridgeError, type Clock, type Random } from "@bridge/ports";
import { type FaultWatch, LinkedAbort, orAborted, retryDelay, Slots } from "@bridge/ports/internal";
import type { PoolClient } from "pg";
import type { Server } from "./client-config.ts";
import { Connections } from "./connections.ts";
import { type Failure, failureOf, NoAnswer, NoConnection } from "./failure.ts";

/** How long calls may take. */
export interface CallBounds {
  /** How long a call may take with all its tries, in milliseconds. Default: 20 s. The caller's signal bounds it too. */
  readonly callTimeoutMs?: number | undefined;
  /**
   * How long a try waits for a connection, and then a first one for its answer, in milliseconds; the server gives it up, too.
   * Default: 3 s.
   */
  readonly tryTimeoutMs?: number | undefined;
  /** A try that follows one without an answer may take twice as long, up to so many milliseconds. Default: the call's time. */
  readonly longestTryMs?: number | undefined;
}

const CALL_TIMEOUT_MS = 20_000;
export const TRY_TIMEOUT_MS = 3_000;
/**
 * A connection takes six round trips where there are TLS and a password. A try does not wait for all of them on a slow network; who comes after it
 * finds the connection.
 */
export const CONNECT_MS = 10_000;
/** What so many tries have met is told before the call is given up. */
const TELLING_TRIES = 3;
/** A reason that costs nothing: without one each call would make an exception. */
const DONE = new Error("done");

export interface CallsOptions extends CallBounds {
  readonly clock: Clock;
  readonly random: Random;
  readonly server: Server;
  readonly poolSize: number;
  readonly faults: FaultWatch;
}

/** One call, in one try or several. */
export interface Call<T> {
  /** For errors. */
  readonly what: string;
  /** `longerMs`: what it may take, if that is more than the server lets a statement take. */
  readonly work: (client: PoolClient, longerMs: number | undefined) => Promise<T>;
  /** Is told of each failed try; what it returns ends the call, as that failure. */
  readonly onFailure: (failure: Failure) => Failure | undefined;
  /** How long a first try may take, in milliseconds. Default: as others. */
  readonly timeoutMs?: number | undefined;
  /** Once the call is given up, so that the server undoes what it has begun. Default: a statement that is under way ends by itself. */
  readonly isCutOff?: boolean | undefined;
  readonly goesFirst?: boolean | undefined;
}

interface Turn {
  /** Of the call. */
  readonly signal: AbortSignal;
  /** Cuts the connection off. */
  readonly end: AbortSignal;
  readonly goesFirst: boolean;
  readonly onTurn: () => void;
}

/** Calls of a server, each bounded, in its turn for a connection, and tried again while that may help. */
export class Calls implements AsyncDisposable {
  readonly #options: CallsOptions;
  readonly #connections: Connections;
  readonly #slots: Slots;
  readonly #open = new Set<LinkedAbort>();
  readonly #over = new AbortController();

  constructor(options: CallsOptions) {
    const { server, poolSize, clock } = options;
    this.#options = options;
    this.#slots = new Slots(poolSize);
    this.#connections = new Connections(server, poolSize, CONNECT_MS, clock);
  }

  /** Ends what is under way, for this reason. Idempotent. */
  end(reason: BridgeError): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(reason);
    for (const call of this.#open) call.abort(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  /** @throws BridgeError uncharged, or the signal's reason */
  async make<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    const { what, work, onFailure, timeoutMs = 0, isCutOff = false, goesFirst = false } = call;
    signal.throwIfAborted();
    this.#over.signal.throwIfAborted();
    const {
      clock,
      random,
      server,
      faults,
      callTimeoutMs = CALL_TIMEOUT_MS,
      tryTimeoutMs = TRY_TIMEOUT_MS,
    } = this.#options;
    const { longestTryMs = callTimeoutMs } = this.#options;
    using open = new LinkedAbort(signal);
    this.#open.add(open);
    let failed: Failure | undefined;
    let begun = false;
    const firstMs = timeoutMs || tryTimeoutMs;
    let tryMs = firstMs;
    const once = (client: PoolClient) => work(client, tryMs > firstMs ? tryMs : undefined);
    using _ = this.#after(Math.max(callTimeoutMs, timeoutMs), () => {
      if (begun) failed ??= failureOf(new NoAnswer(), what, server.label);
      open.abort(failed?.error ?? this.#busy(what));
    });
    try {
      for (let tries = 1; ; tries++) {
        try {
          const end = isCutOff ? open.signal : this.#over.signal;
          const trying = this.#try(once, tryMs, { signal: open.signal, end, goesFirst, onTurn: () => (begun = true) });
          const result = await orAborted(trying, open.signal);
          faults.succeeded(what);
          return result;
        } catch (thrown) {
          open.signal.throwIfAborted();
          failed = failureOf(thrown, what, server.label);
          // What is only late may be large.
          if (tries >= TELLING_TRIES && failed.fault && !failed.late) faults.failed(what, failed.error);
          if (failed.late) tryMs = Math.max(tryMs, Math.min(2 * tryMs, longestTryMs));
          const end = onFailure(failed) ?? (failed.again ? undefined : failed);
          if (end !== undefined) {
            failed = end;
            throw end.error;
          }
        }
        await clock.delay(retryDelay(tries, random), open.signal);
      }
    } catch (error) {
      // Also when the caller gave up: it did because of that. A call without a failed try says nothing.
      if (failed?.fault === true) faults.failed(what, failed.error);
      throw error;
    } finally {
      this.#open.delete(open);
    }
  }

  /** Has its turn until the connection is free: whoever gave the call up may leave it busy for a while. */
  async #try<T>(
    work: (client: PoolClient) => Promise<T>,
    timeoutMs: number,
    { signal, end, goesFirst, onTurn }: Turn,
  ): Promise<T> {
    using _ = await this.#slots.take(signal, goesFirst);
    onTurn();
    const { tryTimeoutMs = TRY_TIMEOUT_MS } = this.#options;
    const client = await this.#inTime(tryTimeoutMs, new NoConnection(), signal, (bound) =>
      this.#connections.lend(bound),
    );
    const beganAt = this.#options.clock.monotonic();
    try {
      return await this.#inTime(timeoutMs, new NoAnswer(), end, (bound) => this.#connections.use(client, work, bound));
    } catch (thrown) {
      const { unsure, late } = failureOf(thrown, "", this.#options.server.label);
      // A network that is only slow has answered others meanwhile.
      if (unsure && !end.aborted) this.#connections.doubt(late ? beganAt : Number.POSITIVE_INFINITY);
      throw thrown;
    }
  }

  async #inTime<T>(ms: number, late: Error, signal: AbortSignal, act: (bound: AbortSignal) => Promise<T>): Promise<T> {
    using attempt = new LinkedAbort(signal);
    using _ = this.#after(ms, () => attempt.abort(late));
    return await act(attempt.signal);
  }

  #busy(what: string): BridgeError {
    const remedy = "raise pool_size if the server can bear it";
    const text = `${what} at ${this.#options.server.label}: no connection was free in time: ${remedy}`;
    return new BridgeError("TIMEOUT", text, { charged: false });
  }

  #after(ms: number, act: () => void): Disposable {
    const timer = new AbortController();
    this.#options.clock.delay(ms, timer.signal).then(act, () => {});
    return { [Symbol.dispose]: () => timer.abort(DONE) };
  }
}
