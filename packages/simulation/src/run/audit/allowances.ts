import { isUnsound } from "../../model/publication.ts";
import type { Fault } from "../../plan/plan.ts";
import { type AtTarget, isKept, type Known, type Ledger } from "./ledger.ts";

/** After these a route of the same process begins anew, and again when what was changed is changed back. */
const BEGINS_A_ROUTE: ReadonlySet<Fault["kind"]> = new Set(["stop", "reload", "commit", "by-hand"]);
/** A change, its end by itself, and the change back. */
const MOST_BEGUN = 3;

/** What the policy of the route allows to be done with a message, by what the edges have seen of it. */
export class Allowances {
  readonly #ledger: Ledger;
  /** How often a route of one process may have begun anew. */
  readonly #begun: number;

  /** Whether each dead letter is kept at once, as far as an instance can tell. */
  readonly #takesDeadLetters: boolean;

  /** Whether a process may lose a lease and have it again: its session begins anew, and what comes again begins with it. */
  readonly #losesLeases: boolean;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#takesDeadLetters = !ledger.plan.faults.some(
      (fault) =>
        fault.kind === "dlq-down" || fault.kind === "freeze" || (fault.kind === "link" && fault.edge === "dlq"),
    );
    this.#losesLeases =
      ledger.plan.leases !== undefined && ledger.plan.faults.some(({ kind }) => kind === "leases-down");
    this.#begun = MOST_BEGUN * ledger.plan.faults.filter(({ kind }) => BEGINS_A_ROUTE.has(kind)).length;
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
    // Attempts that were counted then may be forgotten by now.
    if (known.dropped.has(binding)) return true;
    const { drops, dropsExpired = false, keepsFiltered = false } = this.#ledger.plan;
    const givesUp = this.#mayGiveUpUnbound(known) || this.#mayGiveUp(known, binding);
    if (drops && (this.#isUnsound(known) || givesUp)) return true;
    return (dropsExpired && this.#hasExpired(known)) || (!keepsFiltered && known.filtered);
  }

  /**
   * How often one process may try it at one target, or, where the outbox has it, all of them. What the cap allows comes again each
   * time that its source was told, or its route began anew, which remembers nothing of it; and one more for each time that it was taken
   * back, or its loan lapsed, before that could be noted.
   */
  mostAttempts(number: number, at: AtTarget): number {
    const { plan, changes } = this.#ledger;
    const { settled, handedBack, redrives, injected } = this.#ledger.of(number);
    const isOwn = plan.callers === undefined && plan.messages[number]?.id === undefined && redrives === 0;
    if (!isOwn) return Infinity;
    if (plan.outbox !== undefined) {
      // What the DLQ does not take is sent again.
      if (changes.size > 0 || !this.#takesDeadLetters) return Infinity;
      return plan.maxReplayAttempts * (1 + at.again) + at.lapsed;
    }
    if (injected !== undefined || this.#losesLeases) return Infinity;
    // Who is told of that late goes on with it, beside who has it by then.
    const besides = plan.broker.tellsAfterMs === undefined ? 0 : handedBack;
    const again = plan.broker.counts ? triesAgain(plan.maxReplayAttempts, handedBack) : handedBack;
    return plan.maxReplayAttempts * (1 + settled + this.#begun + besides) + again;
  }

  #hasExpired({ number }: Known): boolean {
    return (this.#ledger.plan.messages[number]?.expiresAt ?? Infinity) < this.#ledger.latest();
  }

  #isUnsound({ number }: Known): boolean {
    const message = this.#ledger.plan.messages[number];
    return message !== undefined && isUnsound(message, this.#ledger.plan.looksAt);
  }

  /** Whether the outbox may have another one of its id, which it takes for the same. */
  #hasTwinInOutbox({ number }: Known): boolean {
    const { plan, known } = this.#ledger;
    const id = plan.messages[number]?.id;
    if (plan.outbox === undefined || id === undefined) return false;
    return known.some((other) => other.published && other.number !== number && plan.messages[other.number]?.id === id);
  }

  /** Whether the policy allows it before a binding is chosen: a processor that refuses, or as many attempts as are configured. */
  #mayGiveUpUnbound({ stumbled, refusedByProcessor, receives }: Known): boolean {
    const { broker, maxReplayAttempts } = this.#ledger.plan;
    const before = broker.counts ? Math.max(0, receives - 1) : 0;
    return refusedByProcessor || (stumbled > 0 && stumbled + before >= maxReplayAttempts);
  }

  /** Whether the policy allows it: a target that refuses for good, or as many attempts as are configured. */
  #mayGiveUp(known: Known, binding: string): boolean {
    const { plan, changes, attemptsById } = this.#ledger;
    if (this.#hasTwinInOutbox(known)) return true;
    const at = known.targets.get(binding);
    if (at === undefined) return false;
    if (at.refusedForGood > 0) return true;
    const direct = plan.outbox === undefined || changes.has("mode");
    const before = plan.broker.counts && direct ? Math.max(0, known.receives - 1) : 0;
    const counted = Math.max(at.failed, attemptsById.most(known.number, binding));
    return at.failed > 0 && counted + before >= plan.maxReplayAttempts;
  }
}

/**
 * Of a source that counts, which says how often it has handed a message out: the tries of the hold before count as one, and each hold has
 * one at least.
 */
function triesAgain(most: number, handedBack: number): number {
  return Array.from({ length: handedBack }, (_, n) => Math.max(1, most - n - 1)).reduce((sum, tries) => sum + tries, 0);
}
