import { BridgeError, type Clock, type Random, type StoreHealth } from "@bridge/ports";
import { FaultWatch } from "@bridge/ports/internal";
import { escapeIdentifier } from "pg";
import { type Call, type CallBounds, Calls, CONNECT_MS, TRY_TIMEOUT_MS } from "./calls.ts";
import { type Server, serverOf } from "./client-config.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import { failureOf, NothingKept } from "./failure.ts";
import type { Migrations } from "./migrations.ts";
import { type Hearing, type HearingOptions, listen } from "./listen.ts";
import { type Denied, deniedOf, faultOf } from "./privileges.ts";
import type { Answer, Statement, Transaction } from "./statement.ts";
import { ask, makeTransaction, type TransactionOptions } from "./transaction.ts";
import { trialOf, type TrialOptions } from "./write-trial.ts";

export interface PostgresOptions extends TrialOptions, CallBounds {
  readonly clock: Clock;
  readonly random: Random;
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
  readonly #calls: Calls;
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
    const faults = (this.#faults = new FaultWatch(clock, trialOf(this, options), this.#over.signal));
    this.#calls = new Calls({ ...options, server: this.#server, poolSize: connection.pool_size, faults });
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
    const call: Call<{ readonly rows: readonly Row[]; readonly count: number }> = {
      what,
      work: async (client, longerMs) =>
        longerMs === undefined
          ? ask<Row>(client, statement)
          : makeTransaction(
              client,
              (transaction) => transaction.query<Row>(statement),
              longerMs,
              () => {},
            ),
      onFailure: (failure) => {
        unsure ||= failure.unsure;
        if (failure.late && mayBeLate) return { ...failure, fault: false };
        return failure.late && endsWhenLate ? failure : undefined;
      },
      goesFirst,
    };
    const { rows, count } = await this.#calls.make(call, signal);
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
    const call: Call<T> = {
      what,
      work: (client, longerMs) => {
        committing = false;
        return makeTransaction(client, work, longerMs ?? timeoutMs, () => (committing = true));
      },
      onFailure: (failure) => {
        if (!failure.unsure || !committing || repeatable) return undefined;
        const text = `${what} at ${this.label}: whether it was made is unknown: the answer was lost`;
        return { ...failure, error: new BridgeError("CONNECTION_LOST", text, { charged: false }) };
      },
      timeoutMs,
      isCutOff: true,
    };
    return this.#calls.make(call, signal);
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
      this.#calls.end(reason);
    }
    await this.#calls[Symbol.asyncDispose]();
  }
}
