import type { Allowances } from "./allowances.ts";
import type { Known, Ledger } from "./ledger.ts";

/** What the answer to an inject means. */
const INJECTED: Readonly<Record<string, Known["injected"]>> = {
  nothing: "nothing",
  failed: "unsure",
  delivered: "done",
  dead_lettered: "done",
  dropped: "done",
  pending: "done",
};

/** What operators who put messages into a route are told of them. */
export class InjectBooks {
  readonly #ledger: Ledger;
  readonly #allowances: Allowances;

  constructor(ledger: Ledger, allowances: Allowances) {
    this.#ledger = ledger;
    this.#allowances = allowances;
  }

  /** An operator puts it into a route. */
  asked(number: number): void {
    const known = this.#ledger.of(number);
    known.published = true;
    known.injected = "asked";
  }

  /** He is told what became of it: `nothing`, or `failed` when that is not known, or an outcome. */
  answered(number: number, what: string): void {
    const known = this.#ledger.of(number);
    const told = INJECTED[what];
    known.injected = told ?? "unsure";
    if (told === undefined) return this.#ledger.violated(`the inject of message ${number} was answered with ${what}`);
    if (told !== "done") return;
    const open = this.#allowances.openAt(number);
    if (open.length > 0)
      this.#ledger.violated(
        `the inject of message ${number} was answered with ${what}, without proof for ${open.join(", ")}`,
      );
    const missed = [...known.targets].filter(([, { accepted }]) => accepted === 0).map(([binding]) => binding);
    if (what === "delivered" && (missed.length > 0 || known.targets.size < this.#ledger.plan.bindings.length))
      this.#ledger.violated(
        `the inject of message ${number} was answered with delivered, and ${missed.join(", ")} has not got it`,
      );
  }

  /** At rest: what an operator was told has come to nothing is nowhere. */
  close({ number, injected, targets, deadLetters }: Known): void {
    if (injected !== "nothing") return;
    for (const [binding, { accepted, record }] of targets)
      if (accepted > 0 || record !== undefined)
        this.#ledger.violated(`the inject of message ${number} was answered with nothing, and ${binding} has got it`);
    if (deadLetters.size > 0)
      this.#ledger.violated(`the inject of message ${number} was answered with nothing, and it is in the DLQ`);
  }
}
