import { BridgeError, type Clock, type LogFields, type Logger } from "@bridge/ports";
import { GatheredLines } from "../gathered-lines.ts";
import type { Disposition } from "../view/stats.ts";
import { stackOf } from "./stack-of.ts";

/** One leg that failed. */
export interface FailedLeg {
  /** Empty when no binding had been chosen. */
  readonly bindingId: string;
  readonly envelopeId: string;
  readonly error: BridgeError;
  readonly trace: LogFields;
}

/**
 * Logs what fails on one route and leaves no other trace: messages that the policy drops, dead letters that could not
 * be written or deleted, and attempts before the last. Logs each attempt, drop and failed deletion at `debug`.
 * Everything except attempts also gets one line per binding and reason, at once and then each minute with the count.
 */
export class FailureLog implements Disposable {
  readonly #logger: Logger;
  /** Keyed by binding and code, so that the configuration bounds their number. */
  readonly #lines: GatheredLines;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#lines = new GatheredLines(clock);
  }

  /** An attempt failed, and another follows. */
  triedInVain(leg: FailedLeg, attempt: number, delayMs: number): void {
    const stack = unclassified(leg.error);
    this.#logger.debug("attempt failed: it is tried again", {
      ...fieldsOf(leg),
      attempt,
      retry_in_ms: Math.round(delayMs),
      ...(stack !== undefined && { stack }),
    });
  }

  /** The policy dropped the message. */
  dropped(leg: FailedLeg, disposition: Disposition): void {
    this.#logger.debug("message dropped", { ...fieldsOf(leg), disposition });
    const { bindingId, envelopeId, error } = leg;
    const fields = { binding_id: bindingId, code: error.code, disposition };
    this.#lines.note(`${error.code} ${bindingId}`, (count) =>
      this.#logger.info("messages dropped, as the route's policy says", {
        ...fields,
        count,
        last_envelope_id: envelopeId,
      }),
    );
  }

  /** A dead letter could not be written. It is tried again, possibly for as long as the store is full. */
  notWritten(error: BridgeError, trace: LogFields): void {
    this.#lines.note(`dead letter ${error.code}`, (count) =>
      this.#logger.error("dead letter not written: the message is kept where it is and tried again", {
        code: error.code,
        error: error.message,
        ...trace,
        count,
      }),
    );
  }

  /** A redriven dead letter was delivered but could not be deleted. A store outage can cause this for a whole batch. */
  notDeleted(entryId: string, error: BridgeError, trace: LogFields): void {
    this.#logger.debug("redriven entry not deleted", { entry_id: entryId, error: error.message, ...trace });
    this.#lines.note(`not deleted ${error.code}`, (count) =>
      this.#logger.error(
        "redriven entry not deleted: a redrive within the retention of the outbox deletes it and sends nothing",
        { entry_id: entryId, error: error.message, ...trace, count },
      ),
    );
  }

  /** Writes the lines that are still pending. */
  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]();
  }
}

function fieldsOf({ bindingId, envelopeId, error, trace }: FailedLeg): LogFields {
  return { binding_id: bindingId, envelope_id: envelopeId, code: error.code, error: error.message, ...trace };
}

/** The stack of an error that nobody classified: nothing else in the failure says where it was thrown. */
function unclassified({ code, cause }: BridgeError): string | undefined {
  return code === "INTERNAL" && !BridgeError.is(cause) ? stackOf(cause) : undefined;
}
