import { isMeasured } from "../../plan/plan.ts";
import type { Allowances } from "./allowances.ts";
import { isKept, type Ledger } from "./ledger.ts";

/** Invariant 4: messages of one key come in their order. */
export class KeyOrder {
  readonly #ledger: Ledger;
  readonly #allowances: Allowances;
  /** By binding and key: what has come into the outbox, in that order. */
  readonly #queues = new Map<string, readonly number[]>();

  constructor(ledger: Ledger, allowances: Allowances) {
    this.#ledger = ledger;
    this.#allowances = allowances;
  }

  persisted(number: number, binding: string): void {
    const key = this.#ledger.plan.messages[number]?.key;
    if (key === undefined) return;
    const place = `${binding} ${key}`;
    this.#queues.set(place, [...(this.#queues.get(place) ?? []), number]);
  }

  /** A target takes it for the first time. */
  accepted(number: number, binding: string): void {
    this.#asAtSource(number, binding);
    this.#asInOutbox(number, binding, "came");
  }

  /** A send of the message begins. */
  sent(number: number, binding: string): void {
    if (this.#ledger.at(number, binding).accepted === 0) this.#asInOutbox(number, binding, "was sent");
  }

  /** First acceptances follow the order of the source, except for messages that were given up. */
  #asAtSource(number: number, binding: string): void {
    const { plan, changes, known } = this.#ledger;
    const { messages, instances = 1, leases, broker, callers, faults } = plan;
    // A caller that repeats its request comes after those that did not have to.
    if (callers !== undefined) return;
    const key = messages[number]?.key;
    // What the outbox has of a route waits when a process has begun with another document.
    if (changes.size > 0 && plan.outbox !== undefined) return;
    // Instances that share a queue get each its part of a key.
    const isShared = instances > 1 || faults.some(({ kind }) => kind === "second-process");
    if (key === undefined || (isShared && (leases === undefined || leases.of === "targets"))) return;
    // Younger ones are handed out while an older one is still lent to nobody who is there.
    if (broker.loanMs !== undefined) return;
    for (let older = number - 1; older >= 0; older--) {
      const before = known[older];
      if (messages[older]?.key !== key || before?.published !== true) continue;
      if ((before.targets.get(binding)?.accepted ?? 0) > 0) return;
      const givenUp = isKept(before, binding) || this.#allowances.mayBeDropped(before, binding);
      if (!givenUp)
        this.#ledger.violated(`message ${number} came to ${binding} before ${older}, which has the same key`);
      return;
    }
  }

  /** Whoever drains an outbox sends nothing while an older record has not ended, unless that was given up and could not be entered. */
  #asInOutbox(number: number, binding: string, what: "came" | "was sent"): void {
    const { plan, changes } = this.#ledger;
    // Who repeats a request puts a message in once more, behind others.
    if (plan.callers !== undefined) return;
    const queue = this.#queues.get(`${binding} ${plan.messages[number]?.key}`) ?? [];
    if (changes.size > 0 || !isMeasured(plan)) return;
    const place = queue.indexOf(number);
    for (const older of queue.slice(0, Math.max(0, place))) {
      const before = this.#ledger.at(older, binding);
      if (before.record !== "pending" || before.accepted > 0) continue;
      // One that had ended, and was forgotten, has come in again behind this one.
      if (queue.lastIndexOf(older) > place) continue;
      const known = this.#ledger.of(older);
      if (what === "was sent" && (isKept(known, binding) || this.#allowances.mayBeDropped(known, binding))) continue;
      this.#ledger.violated(
        `message ${number} ${what} to ${binding} before ${older}, which is before it in the outbox and has the same key`,
      );
    }
  }
}
