import type { DeadLetter, Logger } from "@bridge/ports";

/**
 * Tells of redriven messages that were refused as they came in: what is too large or cannot be read is not kept whole, so
 * what was sent may lack something, and the entry that said so is deleted.
 */
export class SentAsKept {
  readonly #logger: Logger;
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** An entry whose message was delivered. */
  redriven(entry: DeadLetter): void {
    if (!refusedOnTheWayIn(entry)) return;
    this.#count++;
    this.#logger.warn("a redriven message was sent as it was kept, which may be less than what came in", {
      entry_id: entry.id,
      route_id: entry.routeId,
      envelope_id: entry.envelope.id,
      reason: entry.lastError,
    });
  }

  get warning(): string | undefined {
    if (this.#count === 0) return undefined;
    const who = this.#count === 1 ? "1 message was" : `${this.#count} messages were`;
    return `${who} refused on the way in, and sent as kept, which may be less than what came in: the log has the entry ids and reasons`;
  }
}

/** No binding was chosen, and no processor had it: either is charged an attempt, or has another code. */
function refusedOnTheWayIn({ bindingId, attempts, errorCode }: DeadLetter): boolean {
  return bindingId === "" && attempts === 0 && errorCode === "INVALID_PAYLOAD";
}
