import type { Clock, StoredConfig } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import type { TransactionInfo } from "./contract.ts";
import type { Written } from "./document-texts.ts";
import type { OnProbation } from "./on-probation.ts";
import { TransactionError } from "./transaction-error.ts";
import {
  nextState,
  TRANSACTION_OUTCOMES,
  type TransactionEvent,
  type TransactionOutcome,
  type TransactionState,
} from "./transaction-state.ts";

/** A transaction, and what it has come to. */
export interface Transaction extends TransactionInfo {
  readonly base: StoredConfig;
  /** On the clock that never jumps. */
  readonly expiresAtMonotonic: number;
  state: TransactionState;
  /** As people would write it, with the text that says it if one was sent. */
  pending: Written;
  /** What was pending when it was put there as a whole: options that it has not are not erased by a change. */
  whole: StoredConfig["document"];
  /**
   * What it began with, if that was not what is stored; with where its stores were, as far as it has left something
   * there.
   */
  readonly former: StoredConfig | undefined;
  patchCount: number;
}

/** The one transaction that has not ended, and how many have come to what. */
export class OpenTransaction {
  readonly #clock: Clock;
  readonly #probation: () => OnProbation | undefined;
  readonly #withdrawn: () => string | undefined;
  #transaction: Transaction | undefined;
  readonly #outcomes = new Map<TransactionEvent, number>();

  constructor(clock: Clock, probation: () => OnProbation | undefined, withdrawn: () => string | undefined) {
    this.#clock = clock;
    this.#probation = probation;
    this.#withdrawn = withdrawn;
  }

  /** The transaction that has not ended. */
  get live(): Transaction | undefined {
    const transaction = this.#transaction;
    if (transaction?.state.kind === "open" && this.#clock.monotonic() >= transaction.expiresAtMonotonic)
      this.move(transaction, "expired");
    return this.#transaction;
  }

  /** To be called when a second one would not be refused. */
  begin(transaction: Transaction): void {
    this.#transaction = transaction;
  }

  /** @throws TransactionError not_found */
  find(id: string): Transaction {
    const transaction = this.live;
    if (transaction?.id !== id) throw new TransactionError("not_found", "transaction not found or expired");
    return transaction;
  }

  /** @throws TransactionError conflict */
  refuseSecond(): void {
    const open = this.#probation();
    if (open !== undefined) {
      const { version, confirmBy } = open.probation;
      const told =
        this.#withdrawn() ??
        `version ${version} is on probation until ${formatTimestamp(confirmBy)}: confirm it or revert it`;
      throw new TransactionError("conflict", told, { reason: "probation" });
    }
    const other = this.live;
    if (other === undefined) return;
    const until = formatTimestamp(other.expiresAt);
    throw new TransactionError(
      "conflict",
      `the transaction ${other.id} is open until ${until}: commit it or roll it back`,
    );
  }

  /** The only place that changes a state. One that has ended is forgotten. @throws TransactionError conflict */
  move(transaction: Transaction, event: TransactionEvent): void {
    const next = nextState(transaction.state, event);
    if (next === undefined) throw beingCommitted();
    transaction.state = next;
    this.#outcomes.set(event, (this.#outcomes.get(event) ?? 0) + 1);
    if (next.kind === "ended") this.#transaction = undefined;
  }

  outcomes(): Readonly<Record<TransactionOutcome, number>> {
    const counts = TRANSACTION_OUTCOMES.map((outcome) => [outcome, this.#outcomes.get(outcome) ?? 0]);
    return Object.fromEntries(counts) as Record<TransactionOutcome, number>;
  }
}

export function beingCommitted(): TransactionError {
  return new TransactionError("conflict", "the transaction is being committed");
}
