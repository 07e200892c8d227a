import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

interface Left {
  readonly id: string;
  readonly number: number;
  readonly bindingId: string;
}

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
    const { outbox, trace } = this.#world;
    const { supervisor, name } = instance;
    if (supervisor.state().kind !== "running") return;
    const left = supervisor
      .view()
      .undelivered.flatMap(({ routeId, bindingId }) => [...outbox.waitingAt(routeId, bindingId)]);
    if (left.length === 0) return;
    instance.asked(() => {
      trace.add(`an operator moves ${left.length} records that nobody delivers, as ${name} says, to the DLQ`);
      move(instance, left, this.#world);
    });
  }
}

function move({ supervisor, owner }: Instance, left: readonly Left[], { auditor }: World): void {
  for (const { number, bindingId } of left) auditor.outbox.moves(number, bindingId);
  supervisor.deadLetterRecords(left.map(({ id }) => id)).then(
    ({ moved }) => {
      if (owner.alive) auditor.outbox.moveCount += moved;
    },
    () => {},
  );
}

/**
 * Moves to the DLQ what only an instance knows that may not send: records of a route or a binding that it has under another name,
 * while another instance has the lease of the targets.
 */
export function moveFromStandby(instance: Instance, world: World): void {
  const { outbox, plan, trace } = world;
  const { supervisor, name } = instance;
  if (plan.leases?.of !== "targets" || supervisor.view().role !== "standby") return;
  const isOthers = (routeId: string, bindingId: string): boolean =>
    (plan.document.routes ?? []).some(({ id, bindings }) => id === routeId && bindings.includes(bindingId));
  const left = supervisor
    .config()
    .routes.flatMap(({ id, bindings }) => bindings.map((bindingId) => [id, bindingId] as const))
    .filter(([routeId, bindingId]) => !isOthers(routeId, bindingId))
    .flatMap(([routeId, bindingId]) => [...outbox.waitingAt(routeId, bindingId)]);
  if (left.length === 0) return;
  trace.add(`an operator moves ${left.length} records that only ${name} knows, and may not send, to the DLQ`);
  move(instance, left, world);
}
