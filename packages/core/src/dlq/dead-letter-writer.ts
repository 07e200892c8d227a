import { BridgeError, type Clock, type DeadLetter, type DlqStore, type Logger, type RouteTracer } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { RouteAccount } from "../accounting/accounts.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { FailureLog } from "../route/failure-log.ts";
import type { RouteParts } from "../route/route-parts.ts";
import { traceFieldsOf } from "../trace/trace-fields.ts";

/** One write of a dead letter; a store that takes longer has failed, and the write is tried again. */
export const WRITE_TIMEOUT_MS = 20_000;

export interface DeadLetterWriterOptions {
  readonly clock: Clock;
  readonly dlq: () => DlqStore | undefined;
  readonly account: RouteAccount;
  readonly logger: Logger;
  readonly failureLog: Pick<FailureLog, "notWritten">;
  readonly hooks: Hooks;
  readonly storeCalls: RouteParts["storeCalls"];
  /** Absent unless the bridge traces. */
  readonly tracer: RouteTracer | undefined;
}

/** Writes the dead letters of one route. */
export class DeadLetterWriter {
  readonly #options: DeadLetterWriterOptions;

  constructor(options: DeadLetterWriterOptions) {
    this.#options = options;
  }

  /** Resolves to `undefined` when the entry is durable, else to what went wrong. Aborting `signal` is no failure. */
  async write(entry: DeadLetter, signal: AbortSignal): Promise<BridgeError | undefined> {
    const { account, logger, failureLog, hooks, tracer } = this.#options;
    const trace = traceFieldsOf(entry.envelope.headers, tracer !== undefined);
    try {
      await this.#put(entry, signal);
      logger.warn("message dead-lettered", {
        binding_id: entry.bindingId,
        envelope_id: entry.envelope.id,
        code: entry.errorCode,
        error: entry.lastError,
        attempts: entry.attempts,
        ...trace,
      });
      hooks.deadLetter(entry);
      return undefined;
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (signal.aborted) return error;
      account.dlqWriteFailures++;
      failureLog.notWritten(error, trace);
      return error;
    }
  }

  async #put(entry: DeadLetter, signal: AbortSignal): Promise<void> {
    const store = this.#options.dlq();
    if (store === undefined) throw new BridgeError("UNAVAILABLE", "no DLQ store is open");
    using limit = deadline(
      this.#options.clock,
      WRITE_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const bounded = AbortSignal.any([signal, limit.signal]);
    await this.#options.storeCalls.dlq.during(orAborted(store.put(entry, bounded), bounded));
  }
}
