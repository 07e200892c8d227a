import { BridgeError, type ClaimEnd, deadline, orAborted, type OutboxStore } from "@bridge/ports";
import type { RouteParts } from "../route/route-parts.ts";
import { TurnBatch } from "./turn-batch.ts";

/** One write of ends; a store that takes longer has failed, and they are said again. */
const FINISH_TIMEOUT_MS = 10_000;
/** Ends are said so often; after that the loans lapse by themselves and the records are sent again. */
const TRIES = 5;
const PAUSE_MS = 500;

/** Enters how loans ended: all that end in one turn of the event loop in one call. */
export class ClaimEnds {
  readonly #store: () => OutboxStore | undefined;
  readonly #parts: Pick<RouteParts, "account" | "clock" | "logger">;
  readonly #batch = new TurnBatch((ends: readonly ClaimEnd[]) => this.#finish(ends));
  #failing = false;

  constructor(store: () => OutboxStore | undefined, parts: Pick<RouteParts, "account" | "clock" | "logger">) {
    this.#store = store;
    this.#parts = parts;
  }

  get failing(): boolean {
    return this.#failing;
  }

  /** Resolves when the end is durable: true, or false when the loan had lapsed or the end could not be entered. */
  enter(end: ClaimEnd): Promise<boolean> {
    return this.#batch.add(end);
  }

  async #finish(ends: readonly ClaimEnd[]): Promise<readonly boolean[]> {
    const { logger, clock } = this.#parts;
    for (let tries = 1; tries <= TRIES; tries++) {
      using bound = deadline(FINISH_TIMEOUT_MS, () => new BridgeError("TIMEOUT", "the outbox store did not answer"));
      try {
        const store = this.#store();
        if (store === undefined) throw new BridgeError("UNAVAILABLE", "no outbox store is open");
        const results = await orAborted(store.finish(ends, bound.signal), bound.signal);
        this.#failing = false;
        return results;
      } catch (thrown) {
        const error = BridgeError.from(thrown);
        this.#failing = true;
        this.#parts.account.outboxWriteFailures++;
        logger.error("outbox not written: what was delivered may be delivered again", {
          code: error.code,
          error: error.message,
          records: ends.length,
          tries,
        });
        if (tries < TRIES) await clock.delay(PAUSE_MS, new AbortController().signal);
      }
    }
    return ends.map(() => false);
  }
}
