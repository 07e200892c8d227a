import { BridgeError, type ClaimEnd, type OutboxStatus, type OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { LegAccount } from "../accounting/leg-account.ts";
import type { RouteParts } from "../route/route-parts.ts";
import { StandingFault } from "./standing-fault.ts";
import { TurnBatch } from "./turn-batch.ts";

/** The limit for one write of ends. A store that takes longer has failed, and the write is repeated. */
export const FINISH_TIMEOUT_MS = 10_000;
/**
 * Writes of ends are tried at least this often, and for at least `SAID_FOR_MS`: a disk that gets room again should not
 * have to wait until the loans lapse. After that the records are sent again.
 */
const TRIES = 5;
const SAID_FOR_MS = 60_000;
const PAUSE_MS = { first: 500, longest: 4_000 } as const;

type Leg = Pick<LegAccount, "hasMoved">;

/** Writes to the store how loans ended: all that end in one turn of the event loop go in one call. */
export class ClaimEnds {
  readonly #store: () => OutboxStore | undefined;
  readonly #parts: Pick<RouteParts, "account" | "clock" | "logger" | "storeCalls">;
  readonly #leaving: AbortSignal;
  readonly #givenUp: AbortSignal;
  readonly #leg: Leg;
  readonly #batch: TurnBatch<ClaimEnd, boolean | undefined>;
  readonly #unwritable: StandingFault;
  /** Ends that an earlier try may have written, because its answer never came. */
  readonly #doubtful = new Set<ClaimEnd>();
  #unentered = 0;

  /** After `leaving` aborts, retries stop after the minimum; after `givenUp` aborts, at once. */
  constructor(
    store: () => OutboxStore | undefined,
    parts: Pick<RouteParts, "account" | "clock" | "logger" | "storeCalls">,
    { leg, leaving, givenUp }: { readonly leg: Leg; readonly leaving: AbortSignal; readonly givenUp: AbortSignal },
  ) {
    this.#store = store;
    this.#parts = parts;
    this.#batch = new TurnBatch(parts.clock, (ends) => this.#finish(ends));
    this.#leg = leg;
    this.#leaving = leaving;
    this.#givenUp = givenUp;
    this.#unwritable = new StandingFault({
      ...parts,
      begins: "outbox not written: what was delivered may be delivered again",
      ends: "outbox written again",
    });
  }

  /**
   * Why the store does not take ends; `undefined` unless some are being written now. Once a write is given up, its loan
   * lapses and another instance may take the record, so no later write here would show that the store has recovered.
   */
  get fault(): BridgeError | undefined {
    return this.#unentered > 0 ? this.#unwritable.fault : undefined;
  }

  /**
   * Resolves when the end is durable: true, or false when the loan had lapsed. `undefined` when nobody knows, because
   * the store has not answered and is not asked again.
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
          return ends.map((end) => (this.#mayBeWritten(end) ? undefined : false));
        }
        await this.#pause(tries);
      }
    }
  }

  /** Whether an earlier try may have written it. */
  #mayBeWritten(end: ClaimEnd): boolean {
    return this.#doubtful.has(end) && !this.#leg.hasMoved(end.id);
  }

  /**
   * An end written now was not written by an earlier try: that try's loan had lapsed, and the record was claimed here
   * again.
   */
  #notByOthers(ends: readonly ClaimEnd[], results: readonly boolean[]): void {
    if (this.#doubtful.size === 0) return;
    const entered = new Map(ends.filter((_, index) => results[index] === true).map((end) => [end.id, end]));
    for (const end of this.#doubtful) {
      const other = entered.get(end.id);
      if (other !== undefined && other !== end) this.#doubtful.delete(end);
    }
  }

  /**
   * A repeated write may be refused because an earlier try made it and the answer was lost. The record then has the
   * status that the end gives it. In a shared store that may also be another process's work, which has it in its own
   * accounts; in any other, that of an operator who has moved it, which these accounts have.
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
      // A store forgets only records that it has finished.
      const isSo = status === STATUS_AFTER[end.outcome.kind] || (status === undefined && end.outcome.kind !== "retry");
      entered.push(results[index] === true || (this.#mayBeWritten(end) && isSo));
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
