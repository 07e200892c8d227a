import {
  BridgeError,
  type Clock,
  type DeadLetter,
  type DlqStore,
  type LogFields,
  type Logger,
  type RouteTracer,
} from "@bridge/ports";
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
   * Resolves to `undefined` when the entry is durable, else to what went wrong. Aborting `signal` is no failure. What a job or the redrive
   * of one entry has replayed is there already: it is marked instead. `"gone"`: it is not, because somebody has deleted it, or has
   * delivered its message; then nothing is written.
   */
  write(entry: DeadLetter, signal: AbortSignal, replay?: FailedReplay): Promise<BridgeError | "gone" | undefined> {
    return this.#tried(entry, signal, async () => {
      const marked = replay && (await this.#mark(entry, replay, signal));
      if (marked === "marked") return undefined;
      if (replay !== undefined && marked === "gone") {
        const told = this.#fieldsOf(entry, replay);
        this.#options.logger.warn(
          "redrive failed: the dead letter was deleted meanwhile, and nothing is written",
          told,
        );
        return "gone";
      }
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
      return undefined;
    });
  }

  /** Marks what a job has replayed, for a policy that keeps nothing: no entry is written when the original is gone. */
  mark(entry: DeadLetter, signal: AbortSignal, replay: FailedReplay): Promise<BridgeError | undefined> {
    return this.#tried(entry, signal, async () => {
      await this.#mark(entry, replay, signal);
      return undefined;
    });
  }

  async #tried<Said>(entry: DeadLetter, signal: AbortSignal, work: () => Promise<Said>): Promise<BridgeError | Said> {
    const { account, failureLog } = this.#options;
    try {
      return await work();
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

  /** `unknown`: the store keeps no marks, and does not say whether it is there. */
  async #mark(entry: DeadLetter, replay: FailedReplay, signal: AbortSignal): Promise<"marked" | "gone" | "unknown"> {
    const isMarked = await this.#told(signal, async ({ marks }, bounded) =>
      marks === undefined ? undefined : markFailed(marks, replay, entry, bounded),
    );
    if (isMarked !== true) return isMarked === undefined ? "unknown" : "gone";
    this.#options.logger.info("redrive failed: the dead letter stays, with a mark", this.#fieldsOf(entry, replay));
    return "marked";
  }

  #fieldsOf(entry: DeadLetter, { entryId, jobId }: FailedReplay): LogFields {
    return {
      entry_id: entryId,
      job_id: jobId,
      binding_id: entry.bindingId,
      code: entry.errorCode,
      error: entry.lastError,
      ...this.#traceOf(entry),
    };
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
