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
import type { FailedReplay } from "./failed-replay.ts";
import { type AskDlq, keep, mark, NOTHING_WRITTEN } from "./keep.ts";

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
   * Resolves to `undefined` when the entry is durable, or the one that is `replay`ed is marked, else to what went wrong. Aborting `signal`
   * is no failure.
   */
  write(entry: DeadLetter, signal: AbortSignal, replay?: FailedReplay): Promise<BridgeError | "gone" | undefined> {
    return this.#tried(entry, signal, async () => {
      const { logger, hooks } = this.#options;
      const kept = await keep(entry, replay, this.#ask(signal));
      if (kept === "marked") {
        this.#marked(entry, replay);
        return undefined;
      }
      if (kept === "gone") {
        logger.warn(NOTHING_WRITTEN, this.#fieldsOf(entry, replay));
        return "gone";
      }
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
      if ((await mark(entry, replay, this.#ask(signal))) === true) this.#marked(entry, replay);
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

  #marked(entry: DeadLetter, replay: FailedReplay | undefined): void {
    this.#options.logger.info("redrive failed: the dead letter stays, with a mark", this.#fieldsOf(entry, replay));
  }

  #fieldsOf(entry: DeadLetter, replay: FailedReplay | undefined): LogFields {
    return {
      entry_id: replay?.entryId,
      job_id: replay?.jobId,
      binding_id: entry.bindingId,
      code: entry.errorCode,
      error: entry.lastError,
      ...this.#traceOf(entry),
    };
  }

  #ask(signal: AbortSignal): AskDlq {
    return async (call) => {
      const store = this.#options.dlq();
      if (store === undefined) throw new BridgeError("UNAVAILABLE", "no DLQ store is open");
      using limit = deadline(
        this.#options.clock,
        WRITE_TIMEOUT_MS,
        () => new BridgeError("TIMEOUT", "the DLQ store did not answer"),
      );
      const bounded = AbortSignal.any([signal, limit.signal]);
      return await this.#options.storeCalls.dlq.during(orAborted(call(store, bounded), bounded));
    };
  }
}
