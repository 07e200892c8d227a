import { BridgeError, type ClaimEnd, type OutboxStatus, type OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { RouteParts } from "../route/route-parts.ts";
import { StandingFault } from "./standing-fault.ts";
import { TurnBatch } from "./turn-batch.ts";

/** One write of ends; a store that takes longer has failed, and they are repeated. */
export const FINISH_TIMEOUT_MS = 10_000;
/**
 * Ends are said so often at least, and for as long as loans last by then: a disk that gets room again must not cost the
 * wait until they lapse. After that the records are sent again.
 */
const TRIES = 5;
const SAID_FOR_MS = 60_000;
const PAUSE_MS = { first: 500, longest: 4_000 } as const;

/** Enters how loans ended: all that end in one turn of the event loop in one call. */
export class ClaimEnds {
  readonly #store: () => OutboxStore | undefined;
  readonly #parts: Pick<RouteParts, "account" | "clock" | "logger" | "storeCalls">;
  readonly #leaving: AbortSignal;
  readonly #givenUp: AbortSignal;
  readonly #batch: TurnBatch<ClaimEnd, boolean | undefined>;
  readonly #unwritable: StandingFault;
  /** What a try before may have entered, whose answer did not come. */
  readonly #doubtful = new Set<ClaimEnd>();
  #unentered = 0;

  /** When `leaving` aborts, nobody waits longer than need be any more, and when `givenUp` does, not at all. */
  constructor(
    store: () => OutboxStore | undefined,
    parts: Pick<RouteParts, "account" | "clock" | "logger" | "storeCalls">,
    { leaving, givenUp }: { readonly leaving: AbortSignal; readonly givenUp: AbortSignal },
  ) {
    this.#store = store;
    this.#parts = parts;
    this.#batch = new TurnBatch(parts.clock, (ends) => this.#finish(ends));
    this.#leaving = leaving;
    this.#givenUp = givenUp;
    this.#unwritable = new StandingFault({
      ...parts,
      begins: "outbox not written: what was delivered may be delivered again",
      ends: "outbox written again",
    });
  }

  /**
   * Why the store does not take how records ended, while some wait for that: what was given up lapses, and another instance
   * may have it then, so that nothing is entered here which would prove that the store is well.
   */
  get fault(): BridgeError | undefined {
    return this.#unentered > 0 ? this.#unwritable.fault : undefined;
  }

  /**
   * Resolves when the end is durable: true, or false when the loan had lapsed. `undefined` when nobody knows, because the store
   * has not answered and is asked no more.
   */
  enter(end: ClaimEnd): Promise<boolean | undefined> {
    const { results, first } = this.#batch.add([end]);
    return results.then((entered) => entered[first]);
  }

  async #finish(ends: readonly ClaimEnd[]): Promise<readonly (boolean | undefined)[]> {
    this.#unentered++;
    try {
      return await this.#enterAll(ends);
    } finally {
      this.#unentered--;
      for (const end of ends) this.#doubtful.delete(end);
    }
  }

  async #enterAll(ends: readonly ClaimEnd[]): Promise<readonly (boolean | undefined)[]> {
    const { clock } = this.#parts;
    const startedAt = clock.monotonic();
    for (let tries = 1; ; tries++) {
      using bound = deadline(
        clock,
        FINISH_TIMEOUT_MS,
        () => new BridgeError("TIMEOUT", "the outbox store did not answer"),
      );
      try {
        const store = this.#store();
        if (store === undefined) throw new BridgeError("UNAVAILABLE", "no outbox store is open");
        const bounded = AbortSignal.any([bound.signal, this.#givenUp]);
        const results = await this.#parts.storeCalls.outbox.during(orAborted(store.finish(ends, bounded), bounded));
        this.#notByOthers(ends, results);
        const entered = tries === 1 ? results : await this.#entriesOf(store, ends, results, bounded);
        this.#unwritable.over();
        return entered;
      } catch (thrown) {
        const error = BridgeError.from(thrown);
        if (tries === 1) for (const end of ends) this.#doubtful.add(end);
        this.#parts.account.outboxWriteFailures++;
        this.#unwritable.met(error, { records: ends.length });
        const enough = this.#leaving.aborted || clock.monotonic() - startedAt >= SAID_FOR_MS;
        if (this.#givenUp.aborted || (tries >= TRIES && enough)) {
          return ends.map((end) => (this.#doubtful.has(end) ? undefined : false));
        }
        await this.#pause(tries);
      }
    }
  }

  /** What is entered now was not entered by a try before: a loan had lapsed meanwhile, and its record was ours again. */
  #notByOthers(ends: readonly ClaimEnd[], results: readonly boolean[]): void {
    if (this.#doubtful.size === 0) return;
    const entered = new Map(ends.filter((_, index) => results[index] === true).map((end) => [end.id, end]));
    for (const end of this.#doubtful) {
      const other = entered.get(end.id);
      if (other !== undefined && other !== end) this.#doubtful.delete(end);
    }
  }

  /**
   * What is refused when it is repeated may have been entered by a try before, whose answer got lost: then the record is what
   * it was to become. In a store that others share it may as well be their work, and they have it in their books.
   */
  async #entriesOf(
    store: OutboxStore,
    ends: readonly ClaimEnd[],
    results: readonly boolean[],
    signal: AbortSignal,
  ): Promise<readonly boolean[]> {
    if (store.shared === true) return results;
    const entered: boolean[] = [];
    for (const [index, end] of ends.entries()) {
      const status = results[index] === true ? undefined : await orAborted(store.status(end.id, signal), signal);
      // A store that has forgotten it had finished it.
      const isSo = status === STATUS_AFTER[end.outcome.kind] || (status === undefined && end.outcome.kind !== "retry");
      entered.push(results[index] === true || (this.#doubtful.has(end) && isSo));
    }
    return entered;
  }

  async #pause(tries: number): Promise<void> {
    const { clock } = this.#parts;
    if (this.#leaving.aborted) {
      await clock.delay(PAUSE_MS.first, this.#givenUp).catch(() => {});
      return;
    }
    const pauseMs = Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** (tries - 1));
    await clock.delay(pauseMs, this.#leaving).catch(() => {});
  }
}

const STATUS_AFTER: Readonly<Record<ClaimEnd["outcome"]["kind"], OutboxStatus>> = {
  done: "done",
  dead: "dead",
  retry: "pending",
};
