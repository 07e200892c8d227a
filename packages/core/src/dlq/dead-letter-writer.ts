import { BridgeError, type Clock, type DeadLetter, type DlqStore, type Logger, type RouteTracer } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { RouteAccount } from "../accounting/accounts.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { FailureLog } from "../route/failure-log.ts";
import type { RouteParts } from "../route/route-parts.ts";
import { traceFieldsOf } from "../trace/trace-fields.ts";
import { type FailedReplay, markFailed, withoutJob } from "./failed-replay.ts";

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

  /**
   * Resolves to `undefined` when the entry is durable, else to what went wrong. Aborting `signal` is no failure. What a job
   * has replayed is there already: it is marked instead, if it is still there.
   */
  write(entry: DeadLetter, signal: AbortSignal, replay?: FailedReplay): Promise<BridgeError | undefined> {
    return this.#tried(entry, signal, async () => {
      if (replay !== undefined && (await this.#mark(entry, replay, signal))) return;
      const kept = replay === undefined ? entry : withoutJob(entry);
      await this.#told(signal, (store, bounded) => store.put(kept, bounded));
      const { logger, hooks } = this.#options;
      logger.warn("message dead-lettered", {
        binding_id: entry.bindingId,
        envelope_id: entry.envelope.id,
        code: entry.errorCode,
        error: entry.lastError,
        attempts: entry.attempts,
        ...this.#traceOf(entry),
      });
      hooks.deadLetter(kept);
    });
  }

  /** Marks what a job has replayed, for a policy that keeps nothing: no entry is written when the original is gone. */
  mark(entry: DeadLetter, signal: AbortSignal, replay: FailedReplay): Promise<BridgeError | undefined> {
    return this.#tried(entry, signal, async () => void (await this.#mark(entry, replay, signal)));
  }

  async #tried(entry: DeadLetter, signal: AbortSignal, work: () => Promise<void>): Promise<BridgeError | undefined> {
    const { account, failureLog } = this.#options;
    try {
      await work();
      return undefined;
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (signal.aborted) return error;
      account.dlqWriteFailures++;
      failureLog.notWritten(error, this.#traceOf(entry));
      return error;
    }
  }

  #traceOf({ envelope }: DeadLetter): ReturnType<typeof traceFieldsOf> {
    return traceFieldsOf(envelope.headers, this.#options.tracer !== undefined);
  }

  /** Whether it was there. */
  async #mark(entry: DeadLetter, replay: FailedReplay, signal: AbortSignal): Promise<boolean> {
    const isMarked = await this.#told(signal, async ({ marks }, bounded) =>
      marks === undefined ? false : markFailed(marks, replay, entry, bounded),
    );
    if (!isMarked) return false;
    this.#options.logger.info("redrive failed: the dead letter stays, with a mark", {
      entry_id: replay.entryId,
      job_id: replay.jobId,
      binding_id: entry.bindingId,
      code: entry.errorCode,
      error: entry.lastError,
      ...this.#traceOf(entry),
    });
    return true;
  }

  async #told<Said>(
    signal: AbortSignal,
    tell: (store: DlqStore, bounded: AbortSignal) => Promise<Said>,
  ): Promise<Said> {
    const store = this.#options.dlq();
    if (store === undefined) throw new BridgeError("UNAVAILABLE", "no DLQ store is open");
    using limit = deadline(
      this.#options.clock,
      WRITE_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
    );
    const bounded = AbortSignal.any([signal, limit.signal]);
    return await this.#options.storeCalls.dlq.during(orAborted(tell(store, bounded), bounded));
  }
}
