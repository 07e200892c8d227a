import { BridgeError, type OutboxClaim, type OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { holds } from "@bridge/config";
import type { RouteParts, Target } from "../route/route-parts.ts";
import { WRITE_TIMEOUT_MS } from "../dlq/dead-letter-writer.ts";
import { FINISH_TIMEOUT_MS } from "./claim-ends.ts";
import { DELETE_TIMEOUT_MS, STATUS_TIMEOUT_MS } from "./claim-verdicts.ts";
import { drainBudget } from "./drain-budget.ts";
import { StandingFault } from "./standing-fault.ts";

/**
 * A loan outlasts its batch by this much, so that after a last-moment send there is time to write or delete a dead
 * letter and to record the end.
 */
const LOAN_MARGIN_MS = 30_000;
const CLAIM_TIMEOUT_MS = 30_000;

holds("the margin of a loan", LOAN_MARGIN_MS, { WRITE_TIMEOUT_MS, FINISH_TIMEOUT_MS });
holds("the margin of a loan", LOAN_MARGIN_MS, { STATUS_TIMEOUT_MS, DELETE_TIMEOUT_MS, FINISH_TIMEOUT_MS });

export interface ClaimingOptions {
  readonly parts: RouteParts;
  readonly target: Target;
  readonly store: () => OutboxStore | undefined;
  /** Called when a record arrives in the store for this binding. */
  readonly onArrival: () => void;
}

/** The records of one claim. */
export interface Loans {
  readonly claims: readonly OutboxClaim[];
  /**
   * The last moment at which a send may begin, in monotonic milliseconds. Counted from before the claim, as the store
   * counts, however late its answer comes.
   */
  readonly sendBy: number;
}

/** Claims the due records of one binding from the outbox store, and listens for arrivals. */
export class Claiming implements Disposable {
  readonly #options: ClaimingOptions;
  readonly #unreadable: StandingFault;
  #hearing: OutboxStore | undefined;
  #arrivals: Disposable | undefined;

  constructor(options: ClaimingOptions) {
    this.#options = options;
    this.#unreadable = new StandingFault({
      ...options.parts,
      begins: "outbox not readable: tried again",
      ends: "outbox readable again",
    });
  }

  /** Why records cannot be claimed; `undefined` while they can. */
  get fault(): BridgeError | undefined {
    return this.#unreadable.fault;
  }

  /** Listens for arrivals. A later claim calls this too, because the store may open after the route has started. */
  hear(store: OutboxStore | undefined): void {
    if (store === undefined || store === this.#hearing) return;
    const { parts, target, onArrival } = this.#options;
    this.#arrivals?.[Symbol.dispose]();
    this.#hearing = store;
    this.#arrivals = store.onArrival?.({ routeId: parts.config.id, bindingId: target.bindingId }, onArrival);
  }

  [Symbol.dispose](): void {
    this.#arrivals?.[Symbol.dispose]();
  }

  /** Claims at most `limit` records, on loan for as long as sending them takes; or returns why it could not. */
  async claim(limit: number, signal: AbortSignal): Promise<Loans | BridgeError> {
    const { store, parts, target } = this.#options;
    const { id: routeId, policy } = parts.config;
    const { bindingId } = target;
    const budgetMs = drainBudget(limit, policy.sendTimeoutMs, parts.budgets());
    const loanMs = budgetMs + policy.sendTimeoutMs + LOAN_MARGIN_MS;
    const sendBy = parts.clock.monotonic() + budgetMs + LOAN_MARGIN_MS / 2;
    using bound = deadline(
      parts.clock,
      CLAIM_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", "the outbox store did not answer"),
    );
    const bounded = AbortSignal.any([signal, bound.signal]);
    try {
      const opened = store();
      if (opened === undefined) throw new BridgeError("UNAVAILABLE", "no outbox store is open");
      this.hear(opened);
      const call = opened.claim({ routeId, bindingId, limit, loanMs }, bounded);
      const claims = await parts.storeCalls.outbox.during(orAborted(call, bounded));
      this.#unreadable.over();
      return { claims, sendBy };
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (!signal.aborted) this.#unreadable.met(error, { binding_id: bindingId });
      return error;
    }
  }
}
