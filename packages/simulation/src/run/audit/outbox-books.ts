import { plannedBinding } from "../../plan/change.ts";
import type { Allowances } from "./allowances.ts";
import type { KeyOrder } from "./key-order.ts";
import { isKept, type Ledger } from "./ledger.ts";

/** After these changes a record is no longer found where it was. */
const ELSEWHERE = ["renamed", "bindings-renamed", "outbox-moved"] as const;

/** What happens at the outbox. */
export class OutboxBooks {
  readonly #ledger: Ledger;
  readonly #allowances: Allowances;
  readonly #order: KeyOrder;
  /** Records that it has as delivered. */
  done = 0;
  /** Records that ended as dead after an operator had asked for that, and those that moves say they have moved. */
  movedRecords = 0;
  moveCount = 0;

  constructor(ledger: Ledger, allowances: Allowances, order: KeyOrder) {
    this.#ledger = ledger;
    this.#allowances = allowances;
    this.#order = order;
  }

  persisted(number: number, binding: string): void {
    const at = this.#ledger.at(number, binding);
    if (at.record !== undefined) {
      at.again++;
      if (this.#remembers) this.#ledger.violated(`message ${number} was entered twice for ${binding} in the outbox`);
    }
    at.record = "pending";
    this.#order.persisted(number, binding);
  }

  /** A redrive of it has come into the outbox. */
  replays(number: number, binding: string): void {
    this.#ledger.at(number, binding).replays++;
  }

  /** An operator asks for it to be moved to the DLQ. */
  moves(number: number, binding: string): void {
    this.#ledger.at(number, binding).moves++;
  }

  /** The outbox gives it to somebody else, because whoever had it has not said what became of it. */
  lapsed(number: number, binding: string): void {
    this.#ledger.at(number, binding).lapsed++;
  }

  /** The outbox is told that it is over. */
  ended(number: number, bindingId: string, how: "done" | "dead", replay: boolean): void {
    const binding = plannedBinding(bindingId);
    const known = this.#ledger.of(number);
    const at = this.#ledger.at(number, binding);
    if (!replay) at.record = how;
    if (how === "done") this.done++;
    else if (at.moves > 0) this.movedRecords++;
    // Whoever has put it into the DLQ may say so late: by then it may be delivered from there.
    const isDead = isKept(known, binding) || at.redriven || this.#allowances.mayBeDropped(known, binding);
    const proven = how === "done" ? at.accepted > 0 : isDead;
    if (!proven)
      this.#ledger.violated(`message ${number} was entered as ${how} for ${binding} in the outbox without proof`);
  }

  close(): void {
    if (this.moveCount > this.movedRecords)
      this.#ledger.violated(
        `${this.moveCount} records were told to be moved to the DLQ, and ${this.movedRecords} were`,
      );
  }

  /** Whether what a source hands out again is known from the first time. */
  get #remembers(): boolean {
    const { plan, changes } = this.#ledger;
    const { outbox, callers, messages, bindings } = plan;
    // Without a key each request is another message.
    if (callers?.keyed === false) return false;
    // Under another name, or in another store, it is another record.
    if (ELSEWHERE.some((what) => changes.has(what))) return false;
    return outbox !== undefined && outbox.maxRecords >= messages.length * bindings.length;
  }
}
