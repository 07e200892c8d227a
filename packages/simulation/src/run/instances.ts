import { IN_USE } from "../model/outbox.ts";
import type { World } from "./world.ts";
import { stoodStillAmidStop, watchStop } from "./budgets.ts";
import { Configured } from "./configured.ts";
import { Instance } from "./instance.ts";
import { JobOperators } from "./job-operators.ts";
import { Commits } from "./commits.ts";
import { LeftStores } from "./left-stores.ts";
import { Looks } from "./looks.ts";
import { Reloads } from "./reloads.ts";
import { SecondProcess } from "./second-process.ts";
import { Singles } from "./singles.ts";
import { Slips } from "./slips.ts";
import { TriedLetters } from "./tried-letters.ts";
import { Undelivered } from "./undelivered.ts";

/** How long it takes to notice that a process has ended, and to start another. */
const RESTART_MS = 2_000;
/** A process that has not ended this long after being asked to is killed. */
const GRACE_MS = 60_000;

/** The instances of a run, each in its place. When one is gone, the next is started there. */
export class Instances {
  /** How many there have been. */
  count = 0;
  readonly reloads: Reloads;
  readonly jobs: JobOperators;
  readonly commits: Commits;
  readonly leftStores: LeftStores;
  readonly looks: Looks;
  readonly second: SecondProcess;
  readonly singles: Singles;
  readonly slips: Slips;
  readonly undelivered: Undelivered;
  readonly triedLetters: TriedLetters;
  readonly #world: World;
  readonly #places: (Instance | undefined)[];
  /** Processes that have not got their configuration yet. */
  readonly #beginning: (Instance | undefined)[] = [];
  /** Nothing is started any more. */
  #over = false;

  constructor(world: World) {
    this.#world = world;
    this.reloads = new Reloads(world, (place) => this.at(place));
    this.jobs = new JobOperators(world, () => this.live);
    this.commits = new Commits(world, this);
    this.leftStores = new LeftStores(world, this);
    this.looks = new Looks(world);
    this.second = new SecondProcess(this, world.plan.instances ?? 1);
    this.singles = new Singles(world);
    this.slips = new Slips(world);
    this.undelivered = new Undelivered(world, this);
    this.triedLetters = new TriedLetters(world, this);
    this.#places = Array.from({ length: world.plan.instances ?? 1 }, () => undefined);
  }

  get live(): readonly Instance[] {
    return this.#places.filter((instance) => instance !== undefined);
  }

  at(place: number | undefined): Instance | undefined {
    return this.#places[place ?? 0];
  }

  beginAll(): void {
    for (const place of this.#places.keys()) this.begin(place);
  }

  /** Starts a process, unless there is one. */
  begin(place: number | undefined = 0): void {
    if (this.#over || this.second.isUnwanted(place)) return;
    if (this.#places[place] !== undefined || this.#beginning[place] !== undefined) return;
    const name = `instance-${this.count++}`;
    this.#world.trace.add(`${name} begins`);
    const instance = new Instance(this.#world, name, place);
    if (this.#world.plan.documents === undefined) {
      instance.create(instance.configOf(this.reloads.documentAt(place)));
      this.#run(place, instance);
    } else void this.#read(place, instance);
  }

  /** A process that cannot have its document, or cannot run it, ends, and is started again. */
  async #read(place: number, instance: Instance): Promise<void> {
    const { trace, time } = this.#world;
    this.#beginning[place] = instance;
    const configured = await Configured.start(this.#world, instance);
    if (!instance.owner.alive) return;
    this.#beginning[place] = undefined;
    if (configured !== undefined) {
      instance.configured = configured;
      this.#run(place, instance);
      configured.begin();
      return;
    }
    trace.add(`${instance.name} cannot start without a document`);
    instance.kill();
    time.at(time.now + RESTART_MS, () => this.begin(place));
  }

  #run(place: number, instance: Instance): void {
    const { trace, auditor, time } = this.#world;
    const { name } = instance;
    this.#places[place] = instance;
    this.start(instance);
    void instance.supervisor.terminated.then(({ cause, error }) => {
      if (!instance.owner.alive) return;
      trace.add(`${name} is beyond recovery (${cause})`);
      // What ends a process here: it has lost what only a new process may take again, or had no time to stop.
      const hadNoTime = cause === "wedged" && stoodStillAmidStop(this.#world, instance);
      if (cause !== "lease_lost" && !hadNoTime)
        auditor.violated(`${name} is beyond recovery (${cause}): ${error.message}`);
      time.at(time.now + RESTART_MS, () => {
        if (this.#places[place] !== instance) return;
        this.kill(place);
        this.begin(place);
      });
    });
  }

  kill(place: number | undefined = 0): void {
    const instance = this.#places[place] ?? this.#beginning[place];
    if (instance === undefined) return;
    this.#world.trace.add(`${instance.name} is killed`);
    this.#diesAmidATrial(instance);
    instance.kill();
    this.#places[place] = undefined;
    this.#beginning[place] = undefined;
  }

  /** One that was asked to end may have noted so. So may the one before, and this one not yet that it goes on. */
  #diesAmidATrial({ configured, ending }: Instance): void {
    const { auditor, document } = this.#world;
    const tried = configured?.transactions.probation()?.version;
    if (tried !== undefined && !ending && document.note?.orderly !== true) auditor.documents.dies(tried);
  }

  /** Asks a process to end, as whoever runs it does, and starts another one so long after that. */
  restart(place: number | undefined = 0, afterMs = 0): void {
    const instance = this.#places[place];
    if (instance === undefined) return;
    const { trace, time } = this.#world;
    trace.add(`${instance.name} is asked to end`);
    const gone = (): void => {
      if (this.#places[place] !== instance) return;
      this.kill(place);
      time.at(time.now + afterMs, () => this.begin(place));
    };
    time.at(time.now + GRACE_MS, gone);
    instance.asked(() => {
      instance.end().then(gone, gone);
    });
  }

  /** What is shut down, or ends meanwhile, is not replaced. */
  replaceNoMore(): void {
    this.#over = true;
  }

  /** The run is over. */
  killAll(): void {
    this.replaceNoMore();
    for (const place of this.#places.keys()) this.kill(place);
  }

  /** Another process has its outbox: it ends, and is started again. */
  #isKeptOut(instance: Instance): void {
    const { trace, time } = this.#world;
    const place = this.#places.indexOf(instance);
    if (place === -1) return;
    trace.add(`${instance.name} ends, as its outbox is in use`);
    this.kill(place);
    time.at(time.now + RESTART_MS, () => this.begin(place));
  }

  start(instance: Instance): void {
    this.#watch(instance, "start", () => instance.supervisor.start());
  }

  stop(instance: Instance): void {
    instance.stops++;
    this.#watch(instance, "stop", () => instance.supervisor.stop());
  }

  /** A start or a stop that fails is nothing that any fault here allows, but of what is beyond recovery. */
  #watch(instance: Instance, what: "start" | "stop", ask: () => Promise<void>): void {
    const { trace, auditor, outbox } = this.#world;
    instance.asked(() => {
      // One that began while nobody could tell goes on trying, also when it is stopped and started again.
      const wasKeptOut = outbox.isKeptFrom(instance.owner);
      const stopped = what === "stop" ? watchStop(this.#world, instance, what) : () => {};
      ask().then(
        () => {
          stopped();
          if (what === "start" && !wasKeptOut && outbox.isKeptFrom(instance.owner))
            auditor.violated(`${instance.name} runs, and was told that its outbox is in use`);
          trace.add(`${what} of ${instance.name} done`);
        },
        (error: unknown) => {
          if (instance.supervisor.beyondRecovery() || instance.ending) return;
          if (what === "start" && String(error).includes(IN_USE)) return this.#isKeptOut(instance);
          if (what === "stop" && stoodStillAmidStop(this.#world, instance)) return;
          auditor.violated(`a ${what} failed: ${String(error)}`);
        },
      );
    });
  }
}
