import { OperationError, type Supervisor } from "@bridge/core";
import { HttpError } from "@bridge/http-kit";
import {
  BridgeError,
  type Clock,
  type DlqAdmin,
  type DlqMarks,
  type DlqStore,
  type ErrorCode,
  type OutboxStore,
} from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { LIMITS } from "./limits.ts";
import { toHttpError } from "./operation-status.ts";

/** How long work that was cut off has for saying what became of it. */
const GRACE_MS = 100;

/** The parts of the bridge that endpoints work on; asking for one that is not there refuses the request (contract §2). */
export class BridgeAccess {
  readonly #supervisor: () => Supervisor | undefined;
  readonly clock: Clock;
  /** Bounds {@link bounded}. */
  readonly operationTimeoutMs: number;

  constructor(supervisor: () => Supervisor | undefined, clock: Clock, operationTimeoutMs: number) {
    this.#supervisor = supervisor;
    this.clock = clock;
    this.operationTimeoutMs = operationTimeoutMs;
  }

  /** Empty while the process has no bridge. */
  get instanceId(): string {
    return this.#supervisor()?.instanceId ?? "";
  }

  /** @throws HttpError 503 while the process has no bridge */
  get supervisor(): Supervisor {
    const supervisor = this.#supervisor();
    if (supervisor === undefined) throw unavailable();
    return supervisor;
  }

  /** @throws HttpError 503 without a running runtime */
  get running(): Supervisor {
    const { supervisor } = this;
    const { kind } = supervisor.state();
    // While a configuration is swapped, the routes that it does not change go on.
    if (kind !== "running" && kind !== "swapping") throw unavailable();
    return supervisor;
  }

  /** @throws HttpError 404 when no store is configured, 503 when it is configured and not open */
  get dlq(): DlqStore {
    const store = this.supervisor.dlq();
    if (store !== undefined) return store;
    throw this.supervisor.config().stores.dlq === undefined
      ? new HttpError(404, "no DLQ store configured")
      : new HttpError(503, "the DLQ store is not open: deep health says why, or start the bridge");
  }

  /** @throws HttpError as {@link dlq}, and 404 when the store cannot delete */
  get dlqAdmin(): DlqAdmin {
    const { admin } = this.dlq;
    if (admin === undefined) throw new HttpError(404, "no DLQ admin store configured");
    return admin;
  }

  /** @throws HttpError as {@link dlq}, and 404 when the store cannot mark entries */
  get dlqMarks(): DlqMarks {
    return this.dlq.marks ?? cannot();
  }

  /** @throws HttpError as {@link dlq}, and 404 when the store has no pages by key */
  get dlqPages(): Pick<Required<DlqStore>, "page"> {
    const { dlq } = this;
    return dlq.page === undefined ? cannot() : (dlq as Required<DlqStore>);
  }

  /** @throws HttpError as {@link dlq}, and 404 when the store cannot count by groups */
  get dlqFacets(): Pick<Required<DlqStore>, "facets"> {
    const { dlq } = this;
    return dlq.facets === undefined ? cannot() : (dlq as Required<DlqStore>);
  }

  /** @throws HttpError 404 when no outbox is configured, 503 when it is configured and not open */
  get outbox(): OutboxStore {
    const store = this.supervisor.outbox();
    if (store !== undefined) return store;
    throw this.supervisor.config().stores.outbox === undefined
      ? new HttpError(404, "no outbox store configured")
      : new HttpError(503, "the outbox store is not open: deep health says why, or start the bridge");
  }

  /** @throws HttpError as {@link outbox}, and 404 when the store cannot tell blocked keys */
  get outboxKeys(): Pick<Required<OutboxStore>, "blockedKeys"> {
    const { outbox } = this;
    if (outbox.blockedKeys === undefined) throw new HttpError(404, "the outbox store cannot do that");
    return outbox as Required<OutboxStore>;
  }

  /**
   * Runs work under the operation timeout.
   * @throws HttpError 500 with `late` when it takes longer; what the engine itself says at the bound comes first
   */
  bounded<Result>(late: string | (() => string), work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { operationTimeoutMs: ms } = this;
    const told = (): string => `${typeof late === "string" ? late : late()} after ${ms / 1_000} s`;
    return this.#within(ms, () => new HttpError(500, told()), work);
  }

  /**
   * The same, for what looks into a store: one that cannot be used at the moment is 503, and says why; so is one that has not
   * answered after `ms`.
   */
  async looking<Result>(
    into: "DLQ" | "outbox",
    work: (signal: AbortSignal) => Promise<Result>,
    ms: number = Math.min(LIMITS.lookTimeoutMs, this.operationTimeoutMs),
  ): Promise<Result> {
    const late = (): HttpError => this.#silent(into, `the ${into} store did not answer in ${ms / 1_000} s`);
    try {
      return await this.#within(ms, late, work);
    } catch (error) {
      throw this.away(into, error) ?? error;
    }
  }

  /** 503 with why a store cannot be used at the moment, when that is what `error` says. */
  away(into: "DLQ" | "outbox", error: unknown): HttpError | undefined {
    const told = storeAway(error);
    // What the engine says at its own bound, which knows no more.
    return told?.message === `the ${into} store did not answer` ? this.#silent(into, told.message) : told;
  }

  #silent(into: "DLQ" | "outbox", what: string): HttpError {
    const supervisor = this.#supervisor();
    const store = into === "DLQ" ? supervisor?.dlq() : supervisor?.outbox();
    return new HttpError(503, `${what}: ${store?.health?.().fault ?? "look at deep health, and try again"}`);
  }

  /**
   * The same, for what changes the DLQ. A store that does not say what became of the change may have made it, in whole or in part:
   * `unsure` says so after the reason, and what to do.
   */
  async changing<Result>(unsure: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    try {
      return await this.looking("DLQ", work);
    } catch (error) {
      const told = error instanceof HttpError ? error : toHttpError(error);
      throw told === undefined ? error : new HttpError(told.status, `${told.message}; ${unsure}`);
    }
  }

  async #within<Result>(
    ms: number,
    late: () => HttpError,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    using limit = deadline(this.clock, ms, new Error("the time for it is over"));
    const working = work(limit.signal);
    try {
      return await orAborted(working, limit.signal);
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      using grace = deadline(this.clock, GRACE_MS, limit.signal.reason as Error);
      const own = await orAborted(working, grace.signal).catch((thrown: unknown) => thrown);
      if (own instanceof OperationError) throw own;
      throw late();
    }
  }
}

/** 503 with what a store says that cannot be used at the moment. */
export function storeAway(error: unknown): HttpError | undefined {
  return BridgeError.is(error) && AWAY.has(error.code) ? new HttpError(503, error.message) : undefined;
}

/** What a store says that cannot be asked, whatever is asked of it. */
const AWAY: ReadonlySet<ErrorCode> = new Set([
  "TIMEOUT",
  "CONNECTION_LOST",
  "UNAVAILABLE",
  "THROTTLED",
  "NOT_AUTHORIZED",
  "FORBIDDEN",
  "DESTINATION_NOT_FOUND",
]);

function cannot(): never {
  throw new HttpError(404, "the DLQ store cannot do that");
}

function unavailable(): HttpError {
  return new HttpError(503, "runtime not available");
}
