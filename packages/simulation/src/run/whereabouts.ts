import type { Whereabouts as Told } from "@bridge/core";
import { plannedBinding } from "../plan/change.ts";
import { isMeasured } from "../plan/plan.ts";
import type { Instance } from "./instance.ts";
import { falseOf, numbersOf } from "./told-of-legs.ts";
import type { Settlements } from "./settlements.ts";
import type { World } from "./world.ts";

/** Of what was published or settled last, so many are asked for when all is at rest. */
const ASKED = 100;
/** By what an instance's clock is wrong, and some for rounding. */
const DRIFT = 0.02;
const ROUNDED_MS = 5;
/** Of what it sends, so many are asked for. */
const MOST_SENT = 50;

/** Asks instances where messages are, and holds that against what the edges know. */
export class Whereabouts {
  readonly #world: World;
  readonly #settlements: Settlements;

  constructor(world: World, settlements: Settlements) {
    this.#world = world;
    this.#settlements = settlements;
  }

  /** Asks for what it sends now, and for so many of what was published or settled last. */
  look(instance: Instance, messages: number): void {
    const { plan, time, sends } = this.#world;
    for (const [bindingId, { open }] of sends.of(instance.owner)) {
      for (const { envelopeId, signal } of [...open].slice(0, MOST_SENT)) {
        const told = this.#ask(instance, envelopeId);
        // A record of an outbox is carried by nobody here: its message is settled.
        const isSent = told.inFlight.some(
          (place) => plannedBinding(place.bindingId) === bindingId && place.attempts > 0,
        );
        if (plan.outbox === undefined && !signal.aborted && !isSent)
          this.#violated(instance, `${envelopeId} is not on its way to ${bindingId}, and sends it`);
      }
    }
    const published = plan.messages.filter(({ at }) => at <= time.now).slice(-messages);
    for (const { number, id } of published) this.#ask(instance, id ?? `m-${number}`);
    this.#remembers(instance, messages);
  }

  atRest(instance: Instance): void {
    for (const { number, id } of this.#world.plan.messages.slice(-ASKED)) {
      const { inFlight } = this.#ask(instance, id ?? `m-${number}`);
      for (const { bindingId } of inFlight)
        this.#violated(instance, `${id ?? `m-${number}`} is on its way to ${bindingId}, when all is at rest`);
    }
    this.#remembers(instance, ASKED);
  }

  /** What it has settled since it remembers all, as it says, has ended there. */
  #remembers(instance: Instance, messages: number): void {
    const { plan, time } = this.#world;
    // What went into an outbox has ended later, or elsewhere; and whose callers have no key has an id that nobody knows.
    if (plan.outbox !== undefined || plan.callers?.keyed === false || !isMeasured(plan)) return;
    for (const { number, at, accepts } of this.#settlements.of(instance.owner).slice(-messages)) {
      if (!accepts || at >= time.now) continue;
      const id = plan.messages[number]?.id ?? `m-${number}`;
      const { ended, remembers } = this.#ask(instance, id);
      const agoMs = (time.now - at) * (1 + DRIFT) + ROUNDED_MS;
      if (ended.length === 0 && instance.clock.now() - agoMs > remembers.since)
        this.#violated(instance, `nothing of ${id} has ended, which it has settled`);
    }
  }

  #ask(instance: Instance, envelopeId: string): Told {
    const { plan } = this.#world;
    const told = instance.supervisor.whereabouts(envelopeId);
    const numbers = numbersOf(plan, { envelopeId });
    if (numbers === undefined) return told;
    for (const leg of told.ended) {
      const wrong = falseOf(this.#world, numbers, leg);
      if (wrong !== undefined) this.#violated(instance, `of ${envelopeId} ${wrong}`);
    }
    if (told.redrivenAs.length > 0 && !numbers.some((number) => this.#world.auditor.standings.of(number, "").redriven))
      this.#violated(instance, `${envelopeId} was redriven, which nobody has asked for`);
    return told;
  }

  #violated({ name }: Instance, words: string): void {
    this.#world.auditor.violated(`${name} says that ${words}`);
  }
}
