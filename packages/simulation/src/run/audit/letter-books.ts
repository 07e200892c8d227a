import type { DeadLetter } from "@bridge/ports";
import { plannedBinding } from "../../plan/change.ts";
import type { Allowances } from "./allowances.ts";
import type { Known, Ledger } from "./ledger.ts";

/** What happens at the DLQ. */
export class LetterBooks {
  readonly #ledger: Ledger;
  readonly #allowances: Allowances;
  /** Dead letters that were deleted. */
  deletions = 0;
  /** Dead letters that a redrive reported as redriven. */
  readonly #toldRedriven: string[] = [];

  constructor(ledger: Ledger, allowances: Allowances) {
    this.#ledger = ledger;
    this.#allowances = allowances;
  }

  /** `isNew`: whether it was not there before. */
  kept({ bindingId: named, attempts, errorCode }: DeadLetter, number: number, isNew = true): void {
    const bindingId = plannedBinding(named);
    const known = this.#ledger.of(number);
    if (isNew) count(known, bindingId, 1);
    if (this.#allowances.mayBeKept(known, bindingId)) return;
    this.#ledger.violated(
      `message ${number} was dead-lettered for ${bindingId} with ${errorCode} after ${attempts} attempts, which its target gave no cause for`,
    );
  }

  /** An operator asks for it to be delivered again. */
  redriven(number: number): void {
    this.#ledger.of(number).redrives++;
  }

  /** A redrive has answered that these are redriven. */
  toldRedriven(ids: Iterable<string>): void {
    this.#toldRedriven.push(...ids);
  }

  /** An operator has deleted its dead letter. */
  discarded(number: number, binding: string): void {
    const known = this.#ledger.of(number);
    const { discarded, redrives } = known;
    count(known, binding, -1);
    // Where another instance delivers what is redriven, nobody can tell who has deleted the entry.
    if (redrives > 0 && this.#ledger.plan.outbox?.shared === true) this.deletions++;
    discarded.add(plannedBinding(binding));
  }

  /** Its dead letter is back: a purge was undone. */
  takenBack(number: number, binding: string): void {
    count(this.#ledger.of(number), binding, 1);
  }

  /** Its dead letter is gone. A redrive deletes what has been delivered. */
  deleted(number: number, binding: string): void {
    const known = this.#ledger.of(number);
    count(known, binding, -1);
    this.deletions++;
    // One without a binding is for all of them.
    const wanted = binding === "" ? this.#ledger.plan.bindings : [plannedBinding(binding)];
    for (const id of wanted) this.#ledger.at(number, id).redriven = true;
    if (wanted.some((id) => (known.targets.get(id)?.accepted ?? 0) === 0))
      this.#ledger.violated(
        `the dead letter of message ${number} for ${binding} was deleted, and its target has not got it`,
      );
  }

  close(): void {
    // Instances that share an outbox cannot tell whose record delivered an entry: everyone who redrives it counts it.
    const isShared = this.#ledger.plan.outbox?.shared === true;
    const told = isShared ? new Set(this.#toldRedriven).size : this.#toldRedriven.length;
    if (told > this.deletions)
      this.#ledger.violated(`${told} dead letters were told to be redriven, and ${this.deletions} were deleted`);
  }
}

function count({ deadLetters }: Known, named: string, more: 1 | -1): void {
  const binding = plannedBinding(named);
  const now = (deadLetters.get(binding) ?? 0) + more;
  if (now > 0) deadLetters.set(binding, now);
  else deadLetters.delete(binding);
}
