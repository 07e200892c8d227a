import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

/** How often somebody looks. */
const LOOK_MS = 10_000;

/**
 * Whoever looks after the bridge when the faults are over, and reads there of records that nobody delivers: those of a route or a
 * binding that was tried out by a process that died. He moves them to the DLQ, as the manual has it. What no instance tells of
 * stays where it is.
 */
export class Undelivered {
  readonly #world: World;
  readonly #instances: Pick<Instances, "live">;

  constructor(world: World, instances: Pick<Instances, "live">) {
    this.#world = world;
    this.#instances = instances;
  }

  lookAfter(): void {
    const { plan, time } = this.#world;
    if (plan.documents === undefined || plan.outbox === undefined) return;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    for (const instance of this.#instances.live) this.#lookAt(instance);
  }

  #lookAt(instance: Instance): void {
    const { outbox, auditor, trace } = this.#world;
    const { supervisor, owner, name } = instance;
    if (supervisor.state().kind !== "running") return;
    const left = supervisor
      .view()
      .undelivered.flatMap(({ routeId, bindingId }) => [...outbox.waitingAt(routeId, bindingId)]);
    if (left.length === 0) return;
    instance.asked(() => {
      trace.add(`an operator moves ${left.length} records that nobody delivers, as ${name} says, to the DLQ`);
      for (const { number, bindingId } of left) auditor.outbox.moves(number, bindingId);
      supervisor.deadLetterRecords(left.map(({ id }) => id)).then(
        ({ moved }) => {
          if (owner.alive) auditor.outbox.moveCount += moved;
        },
        () => {},
      );
    });
  }
}
