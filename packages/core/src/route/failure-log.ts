import { BridgeError, type Clock, type LogFields, type Logger } from "@bridge/ports";
import type { Disposition } from "../view/stats.ts";
import { stackOf } from "./stack-of.ts";

/** What goes on being dropped is told so often. */
const GATHERED_MS = 60_000;

/** One leg that failed. */
export interface FailedLeg {
  /** Empty when no binding had been chosen. */
  readonly bindingId: string;
  readonly envelopeId: string;
  readonly error: BridgeError;
  readonly trace: LogFields;
}

interface Drops {
  readonly fields: LogFields;
  count: number;
  lastId: string;
}

/**
 * Tells what failed on one route and leaves no other trace: what its policy drops, and attempts before the last. Each at `debug`;
 * what is dropped also in one line for each binding and reason, at once and then each minute with their number.
 */
export class FailureLog implements Disposable {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** By binding and code, so that their number is bounded by the configuration. */
  readonly #drops = new Map<string, Drops>();
  #minutes: Disposable | undefined;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
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
    const key = `${error.code} ${bindingId}`;
    const drops = this.#drops.get(key);
    if (drops !== undefined) {
      drops.count++;
      drops.lastId = envelopeId;
      return;
    }
    const first = { fields: { binding_id: bindingId, code: error.code, disposition }, count: 1, lastId: envelopeId };
    this.#drops.set(key, first);
    this.#tell(first);
    this.#minutes ??= this.#clock.every(GATHERED_MS, () => this.#minute());
  }

  /** Tells what is left to tell. */
  [Symbol.dispose](): void {
    this.#minute();
    this.#drops.clear();
    this.#rest();
  }

  #minute(): void {
    for (const [key, drops] of this.#drops) {
      if (drops.count > 0) this.#tell(drops);
      else this.#drops.delete(key);
    }
    if (this.#drops.size === 0) this.#rest();
  }

  #rest(): void {
    this.#minutes?.[Symbol.dispose]();
    this.#minutes = undefined;
  }

  #tell(drops: Drops): void {
    const { fields, count, lastId } = drops;
    this.#logger.info("messages dropped, as the route's policy says", { ...fields, count, last_envelope_id: lastId });
    drops.count = 0;
  }
}

function fieldsOf({ bindingId, envelopeId, error, trace }: FailedLeg): LogFields {
  return { binding_id: bindingId, envelope_id: envelopeId, code: error.code, error: error.message, ...trace };
}

/** Where somebody's code threw what nobody classified: nothing else of the failure says where. */
function unclassified({ code, cause }: BridgeError): string | undefined {
  return code === "INTERNAL" && !BridgeError.is(cause) ? stackOf(cause) : undefined;
}
