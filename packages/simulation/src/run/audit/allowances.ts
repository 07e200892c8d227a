import { isUnsound } from "../../model/publication.ts";
import type { Fault } from "../../plan/plan.ts";
import { isKept, type Known, type Ledger } from "./ledger.ts";

/** After these another one may go on with what it had, and remembers nothing of it. */
const ENDS_A_ROUTE: ReadonlySet<Fault["kind"]> = new Set(["kill", "stop", "reload", "commit", "by-hand", "freeze"]);

/** What the policy of the route allows to be done with a message, by what the edges have seen of it. */
export class Allowances {
  readonly #ledger: Ledger;
  /** Whether one route has all of it, from the beginning to the end. */
  readonly #goesOn: boolean;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#goesOn = !ledger.plan.faults.some(({ kind }) => ENDS_A_ROUTE.has(kind));
  }

  /** The bindings for which a message is in no safe place. */
  openAt(number: number): readonly string[] {
    const known = this.#ledger.of(number);
    return this.#ledger.plan.bindings.filter((binding) => {
      const at = known.targets.get(binding);
      if ((at?.accepted ?? 0) > 0 || at?.record !== undefined || isKept(known, binding)) return false;
      return !this.mayBeDropped(known, binding);
    });
  }

  /** Whether it may be in the DLQ for a binding, or for all of them. */
  mayBeKept(known: Known, binding: string): boolean {
    if (this.#hasExpired(known) || known.filtered || this.#isUnsound(known)) return true;
    if (binding === "") return this.#mayGiveUpUnbound(known);
    return this.#mayGiveUp(known, binding) || this.#ledger.at(known.number, binding).moves > 0;
  }

  /** Whether the policy drops it, for a reason that it has. */
  mayBeDropped(known: Known, binding: string): boolean {
    const { drops, dropsExpired = false, keepsFiltered = false } = this.#ledger.plan;
    const givesUp = this.#mayGiveUpUnbound(known) || this.#mayGiveUp(known, binding);
    if (drops && (this.#isUnsound(known) || givesUp)) return true;
    return (dropsExpired && this.#hasExpired(known)) || (!keepsFiltered && known.filtered);
  }

  /**
   * How often it may be tried at one target, where one process has all of it: what the cap allows, each time that its source was
   * told, and one more for each time that it was taken back before that could be noted.
   */
  mostAttempts(number: number): number {
    const { outbox, leases, instances = 1, broker, messages, maxReplayAttempts, callers } = this.#ledger.plan;
    const { settled, handedBack, redrives, injected } = this.#ledger.of(number);
    const own = callers === undefined && messages[number]?.id === undefined && redrives === 0 && injected === undefined;
    const counted = outbox === undefined && leases === undefined && instances === 1 && !broker.counts;
    if (!own || !counted || !this.#goesOn) return Infinity;
    return maxReplayAttempts * (1 + settled) + handedBack;
  }

  #hasExpired({ number }: Known): boolean {
    return (this.#ledger.plan.messages[number]?.expiresAt ?? Infinity) < this.#ledger.latest();
  }

  #isUnsound({ number }: Known): boolean {
    const message = this.#ledger.plan.messages[number];
    return message !== undefined && isUnsound(message);
  }

  /** Others that have its id: what one of them counts as attempts counts for all, and the outbox takes the first only. */
  #twins({ number }: Known): readonly Known[] {
    const { plan, known } = this.#ledger;
    const id = plan.messages[number]?.id;
    if (id === undefined) return [];
    return known.filter((other) => other.number !== number && plan.messages[other.number]?.id === id);
  }

  /** Whether the policy allows it before a binding is chosen: a processor that refuses, or as many attempts as are configured. */
  #mayGiveUpUnbound({ stumbled, refusedByProcessor, receives }: Known): boolean {
    const { broker, maxReplayAttempts } = this.#ledger.plan;
    const before = broker.counts ? Math.max(0, receives - 1) : 0;
    return refusedByProcessor || (stumbled > 0 && stumbled + before >= maxReplayAttempts);
  }

  /** Whether the policy allows it: a target that refuses for good, or as many attempts as are configured. */
  #mayGiveUp(known: Known, binding: string): boolean {
    const { plan, changes } = this.#ledger;
    const twins = this.#twins(known);
    if (plan.outbox !== undefined && twins.some(({ published }) => published)) return true;
    const at = known.targets.get(binding);
    if (at === undefined) return false;
    if (at.refusedForGood > 0) return true;
    const direct = plan.outbox === undefined || changes.has("mode");
    const before = plan.broker.counts && direct ? Math.max(0, known.receives - 1) : 0;
    let theirs = 0;
    for (const twin of twins) if (!twin.forgotten) theirs += twin.targets.get(binding)?.failed ?? 0;
    return at.failed > 0 && at.failed + before + theirs >= plan.maxReplayAttempts;
  }
}
