import type { LaneSource } from "./lane.ts";
import type { RouteParts, Target } from "./route-parts.ts";

/** From the source to a binding, or into the outbox. */
export class WayIn implements LaneSource {
  readonly name = "the route";
  readonly #parts: RouteParts;

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  get work(): number {
    return this.#parts.account.inFlight;
  }
  get ended(): number {
    return this.#parts.account.ended;
  }
  get delivered(): number {
    return this.#parts.account.handedOn;
  }
  get refused(): number {
    return this.#parts.unbound.refused;
  }
  get unanswered(): number {
    return this.#parts.unbound.unanswered;
  }
  get failure() {
    return this.#parts.unbound.failure;
  }
  get limited(): boolean {
    return [...this.#parts.targets.values()].some(({ rate }) => rate.limiting) || this.#parts.control.rate.limiting;
  }
}

/** To one binding. */
export class WayOut implements LaneSource {
  readonly name: string;
  readonly #target: Target;

  constructor(target: Target) {
    this.name = `binding ${target.bindingId}`;
    this.#target = target;
  }

  get work(): number {
    const { inFlight, inOutbox, onLoan } = this.#target.account;
    // In a shared outbox, records that others persisted count as work too while they are delivered here.
    return inFlight + Math.max(inOutbox, onLoan);
  }
  get ended(): number {
    return this.#target.account.ended;
  }
  get delivered(): number {
    // What the outbox counts as delivered or duplicate may have been accepted long ago, so it says nothing about the
    // target now.
    return this.#target.account.accepted.count;
  }
  get refused(): number {
    return this.#target.account.refused;
  }
  get unanswered(): number {
    return this.#target.account.unanswered;
  }
  get failure() {
    return this.#target.account.failure;
  }
  get limited(): boolean {
    return this.#target.rate.limiting;
  }
}
