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
 * Tells what failed on one route and leaves no other trace: what its policy drops, dead letters that were not written or not deleted, and
 * attempts before the last. Attempts, drops and what was not deleted each at `debug`; but for attempts also in one line for each binding
 * and reason, at once and then each minute with their number.
 */
export class FailureLog implements Disposable {
  readonly #logger: Logger;
  /** By binding and code, so that their number is bounded by the configuration. */
  readonly #lines: GatheredLines;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#lines = new GatheredLines(clock);
  }

  /** An attempt failed, and another one follows. */
  triedInVain(leg: FailedLeg, attempt: number, delayMs: number): void {
    const stack = unclassified(leg.error);
    this.#logger.debug("attempt failed: it is tried again", {
      ...fieldsOf(leg),
      attempt,
      retry_in_ms: Math.round(delayMs),
      ...(stack !== undefined && { stack }),
    });
  }

  /** The policy has dropped it. */
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

  /** A dead letter could not be written; it is tried again, and that may go on for as long as the store is full. */
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

  /** A dead letter was delivered and could not be deleted. A store that is away keeps all of a batch from it. */
  notDeleted(entryId: string, error: BridgeError, trace: LogFields): void {
    this.#logger.debug("redriven entry not deleted", { entry_id: entryId, error: error.message, ...trace });
    this.#lines.note(`not deleted ${error.code}`, (count) =>
      this.#logger.error(
        "redriven entry not deleted: a redrive within the retention of the outbox deletes it and sends nothing",
        { entry_id: entryId, error: error.message, ...trace, count },
      ),
    );
  }

  /** Tells what is left to tell. */
  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]();
  }
}

function fieldsOf({ bindingId, envelopeId, error, trace }: FailedLeg): LogFields {
  return { binding_id: bindingId, envelope_id: envelopeId, code: error.code, error: error.message, ...trace };
}

/** Where somebody's code threw what nobody classified: nothing else of the failure says where. */
function unclassified({ code, cause }: BridgeError): string | undefined {
  return code === "INTERNAL" && !BridgeError.is(cause) ? stackOf(cause) : undefined;
}
