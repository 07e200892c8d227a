import { BACK_MS } from "./document-books.ts";
import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import type { World } from "./world.ts";

/** How often it is looked what runs. */
const LOOK_MS = 2_000;
/** As long an instance that can reach its document may run another one, and say nothing. */
const STALE_MS = 4 * 60_000;

/** What is known of one instance. */
interface Seen {
  /** Since when it runs, and can be expected to follow. */
  ableSince: number;
  /** Since when it runs what is not stored, and nobody is told why. */
  otherSince: number | undefined;
}

/** Looks at what instances run, and holds it against the document. */
export class Versions {
  readonly #world: World;
  readonly #instances: Instances;
  readonly #seen = new WeakMap<Instance, Seen>();

  constructor(world: World, instances: Instances) {
    this.#world = world;
    this.#instances = instances;
    if (world.plan.documents !== undefined) this.#look();
  }

  /** Everybody runs what is stored. */
  atRest(): void {
    const { plan, document, auditor } = this.#world;
    if (plan.documents === undefined) return;
    const { version } = document.stored;
    for (const { name, supervisor } of this.#instances.live) {
      const config = supervisor.config();
      if (config.configVersion !== version)
        auditor.violated(`at rest ${name} runs version ${config.configVersion}, and version ${version} is stored`);
    }
  }

  #look(): void {
    const { time } = this.#world;
    time.at(time.now + LOOK_MS, () => this.#look());
    for (const instance of this.#instances.live) this.#lookAt(instance);
  }

  #lookAt(instance: Instance): void {
    const { time, auditor } = this.#world;
    const { supervisor, owner, name, configured } = instance;
    const { now } = time;
    const seen = this.#seen.get(instance) ?? { ableSince: now, otherSince: undefined };
    this.#seen.set(instance, seen);
    if (owner.frozen !== undefined || supervisor.state().kind !== "running" || configured === undefined) {
      seen.ableSince = now;
      seen.otherSince = undefined;
      return;
    }
    const runs = supervisor.config().configVersion;
    const over = auditor.documents.overSince(runs);
    if (over !== undefined && now - Math.max(over, seen.ableSince) > BACK_MS) {
      auditor.violated(`${name} runs version ${runs}, which was tried out, long after its time was up`);
      seen.ableSince = now;
    }
    this.#follows(instance, seen, runs);
  }

  /** Two versions are in force only while one is tried out, or for a moment; otherwise an operator is told why. */
  #follows({ name, configured, owner }: Instance, seen: Seen, runs: number): void {
    const { time, auditor, document } = this.#world;
    const { stored, service, away } = document;
    const isTried = configured?.transactions.probation()?.version === runs;
    const isCutOff = service.down !== undefined || away !== undefined || (owner.blocked?.size ?? 0) > 0;
    if (runs === stored.version || isTried || isCutOff || configured?.told !== undefined) {
      seen.otherSince = undefined;
      return;
    }
    seen.otherSince ??= time.now;
    if (time.now - seen.otherSince <= STALE_MS) return;
    auditor.violated(
      `${name} runs version ${runs} while version ${stored.version} is stored, and says nothing of that`,
    );
    seen.otherSince = undefined;
  }
}
