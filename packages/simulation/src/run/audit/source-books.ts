import type { BridgeError, Settlement } from "@bridge/ports";
import type { Owner } from "../../time/virtual-time.ts";
import { HeldDeliveries } from "./held-deliveries.ts";
import type { Allowances } from "./allowances.ts";
import type { Ledger } from "./ledger.ts";

/** What happens at the source of the messages, and what it is told. */
export class SourceBooks {
  readonly #ledger: Ledger;
  readonly #allowances: Allowances;
  readonly #held = new HeldDeliveries();
  /** Called with what each instance tells its source. */
  told: (by: Owner, number: number, settlement: Settlement) => void = () => {};

  constructor(ledger: Ledger, allowances: Allowances) {
    this.#ledger = ledger;
    this.#allowances = allowances;
  }

  published(number: number): void {
    this.#ledger.of(number).published = true;
  }

  /** A delivery of it has come to an instance, whose source takes it back when `taken` aborts. */
  delivers(to: Owner, number: number, taken: AbortSignal): void {
    this.#held.add(to, number, taken);
  }

  /** Whether an instance has a delivery of it that was not taken back. */
  holds(by: Owner, number: number): boolean {
    return this.#held.has(by, number);
  }

  handedOut(number: number): void {
    this.#ledger.of(number).receives++;
  }

  handedBack(number: number): void {
    this.#ledger.of(number).handedBack++;
  }

  forgotten(number: number): void {
    this.#ledger.of(number).forgotten = true;
  }

  /** Its caller gives up: nobody knows what became of it. */
  givenUp(number: number): void {
    this.#ledger.of(number).givenUp = true;
  }

  /** A processor filters it out. */
  filtered(number: number): void {
    this.#ledger.of(number).filtered = true;
  }

  /** A processor has failed for it. */
  stumbled(number: number, error: BridgeError): void {
    const known = this.#ledger.of(number);
    known.stumbled++;
    if (error.class !== "transient") known.refusedByProcessor = true;
  }

  /** A processor that might have failed for it lets it through. */
  passed(number: number): void {
    this.#ledger.of(number).passed = true;
  }

  /** The engine tells the source. Invariant 6: once, and after the proof. `heard`: whether the source may hear of it. */
  settles(number: number, settlement: Settlement, again: boolean, by?: Owner, heard = true): void {
    if (again) this.#ledger.violated(`a delivery of message ${number} was settled twice`);
    if (settlement.kind === "refuse" && this.#ledger.plan.callers === undefined)
      this.#ledger.violated(`message ${number} was refused to a source that cannot be told`);
    if (settlement.kind !== "accept") return;
    const known = this.#ledger.of(number);
    const { dropped } = known;
    known.dropped = new Set();
    const open = this.#allowances.openAt(number);
    if (open.length > 0)
      this.#ledger.violated(
        `message ${number} was settled as ${settlement.outcome} without proof for ${open.join(", ")}`,
      );
    if (!heard) {
      known.dropped = dropped;
      return;
    }
    known.settled++;
    const { plan, attemptsById } = this.#ledger;
    known.dropped = new Set(plan.bindings.filter((binding) => this.#allowances.mayBeDropped(known, binding)));
    attemptsById.settled(number, plan.bindings, by);
  }

  isSettled(number: number): boolean {
    return this.#ledger.of(number).settled > 0;
  }

  /** What sources have published, and may not forget yet. */
  *unforgotten(): Generator<number> {
    for (const { number, published, forgotten, injected } of this.#ledger.known)
      if (published && !forgotten && injected === undefined) yield number;
  }
}
