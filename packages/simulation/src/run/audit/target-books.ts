import { BridgeError } from "@bridge/ports";
import { plannedBinding } from "../../plan/change.ts";
import { isMeasured } from "../../plan/plan.ts";
import type { Owner } from "../../time/virtual-time.ts";
import type { Allowances } from "./allowances.ts";
import type { JobReplays } from "./job-replays.ts";
import type { KeyOrder } from "./key-order.ts";
import type { LeaseRule } from "./lease-rule.ts";
import type { Ledger } from "./ledger.ts";
import type { SourceBooks } from "./source-books.ts";

/** What sends are held against. */
export interface Rules {
  readonly allowances: Allowances;
  readonly order: KeyOrder;
  readonly lease: LeaseRule;
  readonly source: SourceBooks;
  readonly replays: JobReplays;
}

/** What happens at the targets. */
export class TargetBooks {
  readonly #ledger: Ledger;
  readonly #rules: Rules;
  /** Acceptances that an instance has heard of. */
  heard = 0;
  /** Whether the outbox has lent it to that instance. */
  lent: (by: Owner, number: number, binding: string) => boolean = () => true;

  constructor(ledger: Ledger, rules: Rules) {
    this.#ledger = ledger;
    this.#rules = rules;
  }

  /** A send begins: not while an operator has paused the route, and not of a record that others may have by now. */
  sends(by: Owner, number: number, binding: string, envelopeId = ""): void {
    const { plan, changes } = this.#ledger;
    const { replays, lease, source, order } = this.#rules;
    order.sent(number, plannedBinding(binding));
    const replay = replays.sends(by, envelopeId, binding);
    if (replay === undefined || lease.isOfTargets) lease.acts(by, "sends", number);
    if (replay !== undefined && replay !== "retry") this.#ledger.at(number, binding).attempts++;
    const { expiresAt = Infinity } = plan.messages[number] ?? {};
    if (by.wall !== undefined && by.wall() > expiresAt)
      this.#ledger.violated(`${by.name} sends ${number}, which has expired by its clock`);
    if (plan.messages[number]?.stumbles !== undefined && !this.#ledger.of(number).passed)
      this.#ledger.violated(`${by.name} sends ${number}, which no processor has let through`);
    if (by.paused === true) this.#ledger.violated(`${by.name} sends ${number} while its route is paused`);
    const { redrives, injected } = this.#ledger.of(number);
    const fromSource = plan.outbox === undefined && replay === undefined && redrives === 0 && injected === undefined;
    if (fromSource && !source.holds(by, number))
      this.#ledger.violated(`${by.name} sends ${number}, and has no delivery of it that its source has not taken back`);
    if (plan.outbox === undefined || changes.has("mode") || !isMeasured(plan)) return;
    if (!this.lent(by, number, binding))
      this.#ledger.violated(`${by.name} sends ${number} to ${binding}, which the outbox has not lent to it`);
  }

  accepts(number: number, address: string): void {
    const binding = plannedBinding(address);
    if (!this.#ledger.of(number).published) this.#ledger.violated(`message ${number} was sent before it was published`);
    if (this.#ledger.at(number, binding).accepted++ > 0) return;
    this.#rules.order.accepted(number, binding);
  }

  /** The instance that sent it has not heard that it was accepted. */
  unheard(number: number, binding: string): void {
    this.#ledger.at(number, binding).unheard++;
  }

  /** It has. */
  heardAfterAll(number: number, binding: string): void {
    this.#ledger.at(number, binding).unheard--;
  }

  failed(number: number, binding: string, error: unknown, by?: Owner, envelopeId = ""): void {
    const at = this.#ledger.at(number, binding);
    at.failed++;
    this.#ledger.attemptsById.failed(number, plannedBinding(binding), by);
    const lasts = BridgeError.is(error) && error.class !== "transient";
    if (lasts) at.refusedForGood++;
    if (lasts && by !== undefined) this.#rules.replays.refused(by, envelopeId, binding);
    if (BridgeError.is(error) && error.charged && at.attempts === 0) this.#charge(number, binding, by);
  }

  /** The cap holds. */
  #charge(number: number, binding: string, by: Owner | undefined): void {
    const at = this.#ledger.at(number, binding);
    const who = this.#ledger.plan.outbox === undefined ? by : undefined;
    const charged = (at.charged.get(who) ?? 0) + 1;
    at.charged.set(who, charged);
    const most = this.#rules.allowances.mostAttempts(number, at);
    if (charged > most)
      this.#ledger.violated(`message ${number} was tried ${charged} times at ${binding}, where ${most} have a cause`);
  }

  /** A send ends that was begun under a lease: nobody else has that by now. Not asked of one who stood still meanwhile. */
  ends(by: Owner, number: number, binding: string): void {
    const { lease } = this.#rules;
    const isJobs = this.#ledger.at(number, binding).attempts > 0 && !lease.isOfTargets;
    if (isJobs || !isMeasured(this.#ledger.plan) || lease.holder() === "") return;
    lease.acts(by, "still sends", number);
  }

  /** How often which target has taken which message. */
  *arrivals(): Generator<{ readonly number: number; readonly bindingId: string; readonly times: number }> {
    for (const { number, targets } of this.#ledger.known)
      for (const [bindingId, { accepted }] of targets) if (accepted > 0) yield { number, bindingId, times: accepted };
  }
}
