import { NEVER } from "../model/dlq-parts.ts";
import { changesOf } from "../plan/plan.ts";
import type { Configured } from "./configured.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

/** How often somebody looks. */
const LOOK_MS = 7_000;
/** As the condition tells which version is to be committed again. */
const AGAIN = /from_version: (\d+)/;
const STORE = "stores.outbox";
/** What is taken back for another reason is asked first what its stores hold. */
const ENDED = new Set<string | undefined>(["process_ended", "operator"]);

/**
 * Whoever looks after the bridge, and is told there that a version was taken back whose outbox is elsewhere: when the faults are over he
 * commits it again, as the manual has it, so that the bridge delivers what it finds there. What nobody tells stays where it is.
 */
export class LeftStores {
  readonly #world: World;
  readonly #instances: Pick<Instances, "live" | "commits">;
  readonly #seen = new Set<number>();
  /** Of those: which he has not committed again. */
  readonly #versions = new Set<number>();
  #next = 0;
  #isOver = false;

  constructor(world: World, instances: Pick<Instances, "live" | "commits">) {
    this.#world = world;
    this.#instances = instances;
  }

  /** Whether he has done so for all that he was told of. */
  get done(): boolean {
    return this.#versions.size === 0;
  }

  /** All is done: what he hears of from now on has left nothing. */
  rests(): void {
    this.#isOver = true;
  }

  lookAfter(): void {
    const { plan, time } = this.#world;
    if (this.#isOver || plan.documents === undefined || !changesOf(plan).some(({ what }) => what === "outbox-moved"))
      return;
    time.at(time.now + LOOK_MS, () => this.lookAfter());
    const { live } = this.#instances;
    for (const { configured } of live) {
      if (configured === undefined) continue;
      if (plan.documents.shared) void this.#hearOfCluster(configured);
      const [, version] = AGAIN.exec(configured.transactions.leftBehind() ?? "") ?? [];
      if (version !== undefined) this.#isLeft(Number(version));
    }
    const [version] = this.#versions;
    const instance = live[this.#next++ % Math.max(1, live.length)];
    if (version !== undefined && instance !== undefined && time.now > plan.calmAt)
      // What one of them brings back, it brings back for all.
      this.#instances.commits.again(instance, version, () => this.#versions.clear());
  }

  /** In a cluster a version that was staged is kept nowhere: the history says what it has changed. */
  async #hearOfCluster({ transactions }: Configured): Promise<void> {
    const told = transactions.leftElsewhere()?.told;
    const entries = await transactions.history(NEVER).catch(() => undefined);
    for (const { version, reverted, changes } of entries ?? []) {
      const isOver = ENDED.has(reverted?.why) || told?.startsWith(`version ${version} `) === true;
      if (isOver && changes.some(({ path }) => path.startsWith(STORE))) this.#isLeft(version);
    }
  }

  #isLeft(version: number): void {
    if (this.#isOver || this.#seen.has(version)) return;
    this.#seen.add(version);
    this.#versions.add(version);
    this.#world.trace.add(`somebody reads that version ${version} has left an outbox behind`);
  }
}
