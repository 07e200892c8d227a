import { plannedBinding } from "../../plan/change.ts";
import type { JobBooks } from "../job-books.ts";
import type { Allowances } from "./allowances.ts";
import { isKept, type Ledger } from "./ledger.ts";

/** What has become of a message, for whoever is told something of it. */
export interface Standing {
  /** Its target has it. */
  readonly accepted: boolean;
  /** The DLQ has it, or had it when an operator deleted that. */
  readonly kept: boolean;
  /** It has come into the outbox, itself or as a redrive of it. */
  readonly record: boolean;
  /** An attempt has failed: a send, or, without a binding, a processor. */
  readonly failed: boolean;
  /** The policy may drop it. */
  readonly droppable: boolean;
  /** An operator or a job may have asked for its delivery again. */
  readonly redriven: boolean;
}

export interface Books {
  readonly allowances: Allowances;
  readonly jobs: JobBooks;
}

/** Tells what all edges together know of a message so far. */
export class Standings {
  readonly #ledger: Ledger;
  readonly #books: Books;

  constructor(ledger: Ledger, books: Books) {
    this.#ledger = ledger;
    this.#books = books;
  }

  /** For one binding, or, where that is empty, without one. */
  of(number: number, named: string): Standing {
    const { allowances, jobs } = this.#books;
    const known = this.#ledger.of(number);
    const binding = plannedBinding(named);
    const at = known.targets.get(binding);
    return {
      accepted: (at?.accepted ?? 0) > 0,
      kept: isKept(known, binding),
      record: at?.record !== undefined || (at?.replays ?? 0) > 0,
      failed: (binding === "" ? known.stumbled : (at?.failed ?? 0)) > 0,
      droppable: allowances.mayBeDropped(known, binding),
      redriven: known.redrives > 0 || jobs.documents.some(({ kind }) => kind === "redrive"),
    };
  }
}
