import { isDeepStrictEqual } from "node:util";
import type { BridgeDocument } from "@bridge/config";
import type { DeadLetters } from "../model/dead-letters.ts";
import { OTHER_STORE } from "../plan/change.ts";
import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

/** How often somebody looks. */
const LOOK_MS = 7_000;

/**
 * Whoever looks after the bridge, and reads there that what is stored again is not in force, because what was tried out has dead
 * letters in another store. Nobody wants them. As the manual has it, the bridge then goes back by itself.
 */
export class TriedLetters {
  readonly #world: World;
  readonly #instances: Pick<Instances, "live">;

  constructor(world: World, instances: Pick<Instances, "live">) {
    this.#world = world;
    this.#instances = instances;
  }

  lookAfter(): void {
    const { plan, time } = this.#world;
    if (plan.documents === undefined) return;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    for (const instance of this.#instances.live) this.#inTheWay(instance)?.discardAll(instance.owner);
  }

  #inTheWay({ configured, supervisor, owner }: Instance): DeadLetters | undefined {
    if (configured?.told === undefined || owner.frozen !== undefined) return undefined;
    const { document, dlq, otherDlq } = this.#world;
    const { configVersion, stores } = supervisor.config();
    const { version, document: stored } = document.stored;
    if (configured.transactions.probation() !== undefined || configVersion === version) return undefined;
    if (isOther(stores.dlq)) return otherDlq;
    return isOther((stored as Partial<BridgeDocument>).stores?.dlq) ? dlq : undefined;
  }
}

function isOther(store: { readonly options?: unknown } | undefined): boolean {
  return isDeepStrictEqual(store?.options, OTHER_STORE.options);
}
