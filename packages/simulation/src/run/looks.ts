import type { PlannedTap } from "../plan/planned-look.ts";
import type { Fault } from "../plan/plan.ts";
import type { Instance } from "./instance.ts";
import { readRecords, recordedAtRest } from "./records.ts";
import { Settlements } from "./settlements.ts";
import { TapReader } from "./tap-reader.ts";
import { Whereabouts } from "./whereabouts.ts";
import type { World } from "./world.ts";

/** Of a plan with nobody who looks on, nothing is remembered for them. */
export function isLook({ kind }: Fault): boolean {
  return kind === "tap" || kind === "where";
}

/** Those who look on, and what they can be held to: nothing that they are shown may be false, and nothing may change for them. */
export class Looks {
  readonly #world: World;
  readonly #settlements = new Settlements();
  readonly #whereabouts: Whereabouts;

  constructor(world: World) {
    this.#world = world;
    this.#whereabouts = new Whereabouts(world, this.#settlements);
    if (world.plan.faults.some(isLook))
      world.auditor.source.told = (by, number, settlement) =>
        this.#settlements.add(by, { number, at: world.time.now, accepts: settlement.kind === "accept" });
  }

  /** What is returned ends it. */
  tap(instance: Instance | undefined, tap: PlannedTap): () => void {
    if (instance === undefined) return () => {};
    const reader = new TapReader({ ...this.#world, instance, settlements: this.#settlements }, tap);
    instance.asked(() => reader.open());
    return () => instance.asked(() => reader.close());
  }

  where(instance: Instance | undefined, everyMs: number, messages: number): () => void {
    const { time } = this.#world;
    if (instance === undefined) return () => {};
    let over = false;
    const look = (): void => {
      if (over || !instance.owner.alive) return;
      instance.asked(() => {
        this.#whereabouts.look(instance, messages);
        if (instance.recorder !== undefined) readRecords(this.#world, instance, instance.recorder);
      });
      time.at(time.now + everyMs, look);
    };
    look();
    return () => void (over = true);
  }

  /** Nothing is on its way any more. */
  atRest(instance: Instance): void {
    const { recorder, hookBooks, supervisor } = instance;
    if (this.#world.plan.faults.some(isLook)) this.#whereabouts.atRest(instance);
    if (recorder !== undefined) recordedAtRest(this.#world, instance, recorder);
    hookBooks?.atRest(supervisor.stats());
  }
}
