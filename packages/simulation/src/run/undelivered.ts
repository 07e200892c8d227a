import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

interface Left {
  readonly id: string;
  readonly number: number;
  readonly bindingId: string;
}

type Whose = readonly [routeId: string, bindingId: string];

/** How often somebody looks. */
const LOOK_MS = 10_000;
/** What an instance is refused for may have moved on by itself until then. */
const PATIENCE_MS = 60_000;
/** As it is told whose records are in the way of a change. */
const IN_THE_WAY = /in the outbox of route (\S+) and binding ([^\s,;]+)/g;

/**
 * Whoever looks after the bridge, and reads there of records that nobody delivers: those of a route or a binding that nobody has any
 * more, and those in the way of a change of an instance that may not send. He moves them to the DLQ, as the manual has it. What no
 * instance tells of stays where it is.
 */
export class Undelivered {
  readonly #world: World;
  readonly #instances: Pick<Instances, "live">;
  /** Since when records are in the way at a standby. */
  readonly #stuckSince = new WeakMap<Instance, number>();
  /** Those who are at it. */
  readonly #moving = new WeakSet<Instance>();

  constructor(world: World, instances: Pick<Instances, "live">) {
    this.#world = world;
    this.#instances = instances;
  }

  lookAfter(): void {
    const { plan, time } = this.#world;
    if (plan.outbox === undefined) return;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    for (const instance of this.#instances.live) {
      // One that stands still answers nobody.
      if (instance.owner.frozen !== undefined || this.#moving.has(instance)) continue;
      if (instance.supervisor.state().kind !== "running") continue;
      this.#move(instance, this.#undelivered(instance), "that nobody delivers");
      this.#move(instance, this.#inTheWay(instance), "that are in its way, and that it may not send");
    }
  }

  #undelivered({ supervisor }: Instance): readonly Whose[] {
    return supervisor.view().undelivered.map(({ routeId, bindingId }) => [routeId, bindingId] as const);
  }

  #inTheWay(instance: Instance): readonly Whose[] {
    const { now } = this.#world.time;
    const isStandby = instance.supervisor.view().role === "standby";
    const stuck = isStandby ? [...(instance.told ?? "").matchAll(IN_THE_WAY)] : [];
    if (stuck.length === 0) {
      this.#stuckSince.delete(instance);
      return [];
    }
    const since = this.#stuckSince.get(instance) ?? now;
    this.#stuckSince.set(instance, since);
    return now - since < PATIENCE_MS ? [] : stuck.map(([, routeId = "", bindingId = ""]) => [routeId, bindingId]);
  }

  #move(instance: Instance, places: readonly Whose[], which: string): void {
    const { trace, auditor } = this.#world;
    const { supervisor, owner, name } = instance;
    const outbox = instance.hasOtherOutbox ? this.#world.otherOutbox : this.#world.outbox;
    const left: readonly Left[] = places.flatMap((place) => [...outbox.waitingAt(...place)]);
    if (left.length === 0) return;
    this.#moving.add(instance);
    instance.asked(() => {
      trace.add(`an operator moves ${left.length} records ${which}, as ${name} says, to the DLQ`);
      for (const { number, bindingId } of left) auditor.outbox.moves(number, bindingId);
      supervisor.deadLetterRecords(left.map(({ id }) => id)).then(
        ({ moved }) => {
          this.#moving.delete(instance);
          if (owner.alive) auditor.outbox.moveCount += moved;
        },
        () => void this.#moving.delete(instance),
      );
    });
  }
}
