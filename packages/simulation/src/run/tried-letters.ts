import { isDeepStrictEqual } from "node:util";
import { OTHER_STORE } from "../plan/change.ts";
import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

/** How often somebody looks. */
const LOOK_MS = 7_000;

/**
 * Whoever looks after the bridge, and reads there that what is stored again is not in force, because what was tried out has dead
 * letters in a store of its own. Nobody wants them. As the manual has it, the bridge then goes back by itself.
 */
export class TriedLetters {
  readonly #world: World;
  readonly #instances: Pick<Instances, "live">;

  constructor(world: World, instances: Pick<Instances, "live">) {
    this.#world = world;
    this.#instances = instances;
  }

  lookAfter(): void {
    const { plan, time, otherDlq } = this.#world;
    if (plan.documents === undefined) return;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    for (const instance of this.#instances.live) if (this.#isHeldUp(instance)) otherDlq.discardAll(instance.owner);
  }

  #isHeldUp({ configured, supervisor, owner }: Instance): boolean {
    if (configured?.told === undefined || owner.frozen !== undefined) return false;
    const { configVersion, stores } = supervisor.config();
    const isOver = configured.transactions.probation() === undefined;
    const isStored = configVersion === this.#world.document.stored.version;
    return isOver && !isStored && isDeepStrictEqual(stores.dlq?.options, OTHER_STORE.options);
  }
}
