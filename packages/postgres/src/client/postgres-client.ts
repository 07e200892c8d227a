import { BridgeError, type Clock, type Random, type StoreHealth } from "@bridge/ports";
import { FaultWatch, LinkedAbort, orAborted, retryDelay, Slots } from "@bridge/ports/internal";
import { escapeIdentifier, type PoolClient } from "pg";
import { type Server, serverOf } from "./client-config.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import { Connections } from "./connections.ts";
import { type Failure, failureOf, NoAnswer, NoConnection, NothingKept } from "./failure.ts";
import type { Migrations } from "./migrations.ts";
import { type Hearing, type HearingOptions, listen } from "./listen.ts";
import { type Denied, deniedOf, faultOf } from "./privileges.ts";
import type { Answer, Statement, Transaction } from "./statement.ts";
import { ask, makeTransaction, type TransactionOptions } from "./transaction.ts";
import { trialOf, type TrialOptions } from "./write-trial.ts";

export interface PostgresOptions extends TrialOptions {
  readonly clock: Clock;
  readonly random: Random;
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
const TRY_TIMEOUT_MS = 3_000;
/**
 * A connection takes six round trips where there are TLS and a password. A try does not wait for all of them on a slow network; who comes after it
 * finds the connection.
 */
const CONNECT_MS = 10_000;
/** What so many tries have met is told before the call is given up. */
const TELLING_TRIES = 3;
/** A reason that costs nothing: without one each call would make an exception. */
const DONE = new Error("done");

interface CallOptions {
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

/**
 * Statements for a PostgreSQL server, bounded and tried again. What is transient is tried again after a random wait that
 * grows, until the call's time is up or its signal aborts; a statement without an answer is given up with its connection, and
 * has more time at the next try: what is large is long on its way.
 *
 * Calls reject with a {@link BridgeError}, uncharged, whose text has neither values nor passwords; or with the signal's
 * reason. Whether a rejected write was made is then unknown, and it may still be made when the server comes back.
 */
export class PostgresClient implements AsyncDisposable {
  /** Where it is, as it may be shown: `host:port/database`. */
  readonly label: string;
  /** That the tables are in. */
  readonly schema: string;
  readonly #server: Server;
  readonly #options: PostgresOptions;
  readonly #connections: Connections;
  readonly #slots: Slots;
  readonly #calls = new Set<LinkedAbort>();
  readonly #over = new AbortController();
  readonly #faults: FaultWatch;
  /** Why what is written now would not last. */
  #unkept: BridgeError | undefined;

  constructor(connection: ConnectionOptions, options: PostgresOptions) {
    const { clock, tryTimeoutMs = TRY_TIMEOUT_MS } = options;
    this.#options = options;
    this.schema = connection.schema;
    this.#server = serverOf(connection, { connectTimeoutMs: CONNECT_MS, statementTimeoutMs: tryTimeoutMs });
    this.label = this.#server.label;
    this.#slots = new Slots(connection.pool_size);
    this.#connections = new Connections(this.#server, connection.pool_size, CONNECT_MS, clock);
    this.#faults = new FaultWatch(clock, trialOf(this, options), this.#over.signal);
  }

  /** The name of a table of the schema, quoted. */
  table(name: string): string {
    return `${escapeIdentifier(this.schema)}.${escapeIdentifier(name)}`;
  }

  /** One statement, which is a transaction by itself. It may be made twice: look at {@link Answer.unsure}. */
  async query<Row extends object>(statement: Statement, signal: AbortSignal): Promise<Answer<Row>> {
    let unsure = false;
    const { what, endsWhenLate = false, mayBeLate = false, lasting = false, goesFirst } = statement;
    if (lasting && this.#unkept !== undefined) throw this.#unkept;
    const { rows, count } = await this.#call(
      what,
      async (client, longerMs) =>
        longerMs === undefined
          ? ask<Row>(client, statement)
          : makeTransaction(
              client,
              (transaction) => transaction.query<Row>(statement),
              longerMs,
              () => {},
            ),
      (failure) => {
        unsure ||= failure.unsure;
        if (failure.late && mayBeLate) return { ...failure, fault: false };
        return failure.late && endsWhenLate ? failure : undefined;
      },
      signal,
      { goesFirst },
    );
    return { rows, count, unsure };
  }

  /**
   * Several statements that are made together or not at all. `work` is done again when others were in its way or the
   * connection was lost before its end, and touches nothing but the statements.
   *
   * The server does know what became of a transaction by its id, but not safely: after a crash it gives ids again that
   * it gave to transactions of which nothing had reached its disk. So it is not asked.
   *
   * @throws BridgeError `CONNECTION_LOST` when the answer to the last word was lost, unless it is repeatable: it is then
   * unknown whether it was made
   */
  async transaction<T>(
    what: string,
    work: (transaction: Transaction) => Promise<T>,
    signal: AbortSignal,
    options: TransactionOptions = {},
  ): Promise<T> {
    const { timeoutMs, repeatable = false } = options;
    let committing = false;
    return this.#call(
      what,
      (client, longerMs) => {
        committing = false;
        return makeTransaction(client, work, longerMs ?? timeoutMs, () => (committing = true));
      },
      (failure) => {
        if (!failure.unsure || !committing || repeatable) return undefined;
        const text = `${what} at ${this.label}: whether it was made is unknown: the answer was lost`;
        return { ...failure, error: new BridgeError("CONNECTION_LOST", text, { charged: false }) };
      },
      signal,
      { timeoutMs, isCutOff: true },
    );
  }

  /** Hears a channel on a connection of its own, until the hearing is disposed or the client is. */
  listen(channel: string, hearing: HearingOptions): Hearing {
    const { clock, random } = this.#options;
    return listen(channel, this.#server, { clock, random }, hearing, this.#over.signal);
  }

  /** Why a call failed, or its last try before it was given up; nothing once that works again. */
  health(): StoreHealth {
    return this.#faults.health();
  }

  /** Finds out at once whether it takes writes; {@link health} tells then. */
  prove(): Promise<void> {
    return this.#faults.look();
  }

  /** What `what` has met that found nothing of what the server took from it; {@link health} tells it too. */
  keptNothing(what: string): BridgeError {
    const { error } = failureOf(new NothingKept(), what, this.label);
    this.#faults.failed(what, error);
    return error;
  }

  /** What a look has found of how the server keeps what is written; {@link health} tells it too. Throws it. */
  kept(what: string, wrong: string | undefined): void {
    this.#unkept =
      wrong === undefined ? undefined : new BridgeError("UNAVAILABLE", `${this.label}: ${wrong}`, { charged: false });
    if (this.#unkept === undefined) return;
    this.#faults.failed(what, this.#unkept);
    throw this.#unkept;
  }

  /** Resolves to what the bridge's user may not do that a store needs; {@link health} tells it too. */
  async denied(migrations: Migrations, signal: AbortSignal): Promise<BridgeError | undefined> {
    const statement = { what: "looking at the privileges", ...deniedOf(migrations, this.schema) };
    const { rows } = await this.query<Denied>(statement, signal);
    const fault = rows[0] && faultOf(rows[0], this.label);
    // Under another name than the question's, whose next answer is no end of it.
    if (fault !== undefined) this.#faults.failed("being allowed", fault);
    return fault;
  }

  /** What {@link health} tells of, with its code. */
  get failure(): BridgeError | undefined {
    return this.#faults.failure;
  }

  /** Ends what is under way, as `UNAVAILABLE`. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over.signal.aborted) {
      const reason = new BridgeError("UNAVAILABLE", "the store is closed", { charged: false });
      this.#over.abort(reason);
      for (const call of this.#calls) call.abort(reason);
    }
    await this.#connections[Symbol.asyncDispose]();
  }

  async #call<T>(
    what: string,
    /** `longerMs`: what it may take, if that is more than the server lets a statement take. */
    work: (client: PoolClient, longerMs: number | undefined) => Promise<T>,
    /** Is told of each failed try; what it returns ends the call, as that failure. */
    onFailure: (failure: Failure) => Failure | undefined,
    signal: AbortSignal,
    { timeoutMs = 0, isCutOff = false, goesFirst = false }: CallOptions = {},
  ): Promise<T> {
    signal.throwIfAborted();
    this.#over.signal.throwIfAborted();
    const { clock, random, callTimeoutMs = CALL_TIMEOUT_MS, tryTimeoutMs = TRY_TIMEOUT_MS } = this.#options;
    const { longestTryMs = callTimeoutMs } = this.#options;
    using call = new LinkedAbort(signal);
    this.#calls.add(call);
    let failed: Failure | undefined;
    let begun = false;
    const firstMs = timeoutMs || tryTimeoutMs;
    let tryMs = firstMs;
    const once = (client: PoolClient) => work(client, tryMs > firstMs ? tryMs : undefined);
    using _ = this.#after(Math.max(callTimeoutMs, timeoutMs), () => {
      if (begun) failed ??= failureOf(new NoAnswer(), what, this.label);
      call.abort(failed?.error ?? this.#busy(what));
    });
    try {
      for (let tries = 1; ; tries++) {
        try {
          const end = isCutOff ? call.signal : this.#over.signal;
          const trying = this.#try(once, tryMs, { signal: call.signal, end, goesFirst, onTurn: () => (begun = true) });
          const result = await orAborted(trying, call.signal);
          this.#faults.succeeded(what);
          return result;
        } catch (thrown) {
          call.signal.throwIfAborted();
          failed = failureOf(thrown, what, this.label);
          // What is only late may be large.
          if (tries >= TELLING_TRIES && failed.fault && !failed.late) this.#faults.failed(what, failed.error);
          if (failed.late) tryMs = Math.max(tryMs, Math.min(2 * tryMs, longestTryMs));
          const end = onFailure(failed) ?? (failed.again ? undefined : failed);
          if (end !== undefined) {
            failed = end;
            throw end.error;
          }
        }
        await clock.delay(retryDelay(tries, random), call.signal);
      }
    } catch (error) {
      // Also when the caller gave up: it did because of that. A call without a failed try says nothing.
      if (failed?.fault === true) this.#faults.failed(what, failed.error);
      throw error;
    } finally {
      this.#calls.delete(call);
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
      const { unsure, late } = failureOf(thrown, "", this.label);
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
    return new BridgeError("TIMEOUT", `${what} at ${this.label}: no connection was free in time: ${remedy}`, {
      charged: false,
    });
  }

  #after(ms: number, act: () => void): Disposable {
    const timer = new AbortController();
    this.#options.clock.delay(ms, timer.signal).then(act, () => {});
    return { [Symbol.dispose]: () => timer.abort(DONE) };
  }
}
