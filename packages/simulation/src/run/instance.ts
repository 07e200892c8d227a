import { isDeepStrictEqual } from "node:util";
import { type BridgeConfig, type BridgeDocument, parseConfig, type Registry } from "@bridge/config";
import { createRecorder, createSupervisor, type Recorder, type Supervisor } from "@bridge/core";
import type { ConfigDepartures, LogFields, Logger, Seams } from "@bridge/ports";
import type { Dice } from "../dice.ts";
import { programHooks } from "../model/program-hooks.ts";
import { OTHER_STORE } from "../plan/change.ts";
import { EPOCH } from "../model/publication.ts";
import { InstanceClock } from "../time/instance-clock.ts";
import type { Owner, VirtualTime } from "../time/virtual-time.ts";
import type { Configured } from "./configured.ts";
import { HookBooks } from "./hook-books.ts";
import { type Sessions, simulatedPlugins } from "./simulated-plugins.ts";
import type { World } from "./world.ts";

/** A clock is wrong by up to a hundredth, or, where leases are measured, by less than half of that, and by up to an hour. */
const DRIFT = 0.01;
const LEASED_DRIFT = 0.004;
const SKEW_MS = 3_600_000;
/** Instances that follow one document know the time: whoever tries a version out says until when by its own. */
const SET_SKEW_MS = 60_000;

/** One process of the bridge, from start to end: the engine's own supervisor between model edges. */
export class Instance {
  readonly owner: Owner;
  readonly name: string;
  readonly clock: InstanceClock;
  readonly #logger: Logger;
  readonly #random: Dice;
  #supervisor: Supervisor | undefined;
  /** What keeps it at a document that it follows. */
  configured: Configured | undefined;
  /** Its process was asked to end. */
  ending = false;
  /** How often it was asked to stop. */
  stops = 0;
  /** How often it was made to stand still. */
  freezes = 0;
  /** What its hooks are told. */
  hookBooks: HookBooks | undefined;
  recorder: Recorder | undefined;
  /** Why it was refused the last change that it was asked for, where it follows no document. */
  refused: string | undefined;
  readonly #world: World;
  readonly #time: VirtualTime;
  readonly registry: Registry;
  readonly #sessions: Sessions = { sources: new Set(), targets: new Set(), senders: new Set() };

  constructor(world: World, name: string, place: number) {
    const dice = (this.#random = world.dice.fork(name));
    const set = world.plan.documents && world.dice.fork(`clock of ${place}`);
    this.name = name;
    this.#world = world;
    this.#time = world.time;
    this.owner = { name, alive: true, pending: 0, blocked: new Map() };
    this.clock = new InstanceClock({
      time: world.time,
      owner: this.owner,
      // The next process in a place has the clock of the one before, which has gone on.
      epoch: EPOCH + world.time.now + (set?.whole(-SET_SKEW_MS, SET_SKEW_MS) ?? dice.whole(-SKEW_MS, SKEW_MS)),
      rate: 1 + (world.plan.leases === undefined ? DRIFT : LEASED_DRIFT) * (2 * dice.next() - 1),
      phase: () => dice.next(),
    });
    this.owner.wall = () => this.clock.now() - EPOCH;
    world.clocks.push(this.clock);
    this.registry = simulatedPlugins(world, this.owner, this.#sessions);
    this.#logger = traced(name, (line) => this.owner.alive && world.trace.add(line));
  }

  /** Makes the engine, which does nothing yet. */
  create(config: BridgeConfig, departures?: ConfigDepartures): void {
    const { registry, owner, clock, name: instanceId } = this;
    const { hooks: habits, recorded } = this.#world.plan;
    const books = (this.hookBooks =
      habits &&
      new HookBooks(
        this.#world,
        owner,
        (name) => this.supervisor.stats().hooks.find(({ hook }) => hook === name)?.lost ?? 0,
      ));
    const dice = this.#world.dice.fork(`hooks of ${instanceId}`);
    const hooks = habits && books && programHooks({ owner, time: this.#time, dice, habits, books });
    const supervisor = createSupervisor({ ...this.seams, config, registry, instanceId, departures, hooks });
    this.#supervisor = supervisor;
    if (recorded === true) this.recorder = createRecorder({ supervisor, clock });
  }

  get supervisor(): Supervisor {
    if (this.#supervisor === undefined) throw new Error(`${this.name} has not got its configuration yet`);
    return this.#supervisor;
  }

  get seams(): Seams {
    return { clock: this.clock, random: this.#random, logger: this.#logger };
  }

  /** When it went on after that for the last time. */
  get thawedAt(): number {
    return this.owner.thawedAt ?? -Infinity;
  }

  /** Those that wait on one of its connections for the end of it, at most. */
  get listeners(): number {
    return Math.max(0, ...[...this.#sessions.sources].map(({ listeners }) => listeners));
  }

  /** Its connections to the broker, those included that came when nobody waited for them any more. */
  get connections(): number {
    return [...this.#sessions.sources].reduce((sum, { open }) => sum + open.size, 0);
  }

  /** Why something else is not in force, as an operator is told. */
  get told(): string | undefined {
    return this.configured?.told ?? this.refused;
  }

  /** Whether it has its outbox elsewhere. */
  get hasOtherOutbox(): boolean {
    return isDeepStrictEqual(this.supervisor.config().stores.outbox?.options, OTHER_STORE.options);
  }

  /** The broker drops its connections. */
  cut(noticedAfterMs: number): void {
    for (const session of this.#sessions.sources) session.cut(noticedAfterMs);
  }

  /** The targets do. */
  cutFromTargets(noticedAfterMs: number): void {
    for (const session of this.#sessions.targets) session.cut(noticedAfterMs);
  }

  /** An operator asks it for something, which one that stands still hears afterwards. */
  asked(what: () => void): void {
    this.#time.reach(this.owner, this.#time.now, what);
  }

  configOf(document: BridgeDocument): BridgeConfig {
    return parseConfig(document, this.registry);
  }

  /** `surely`: no change is under way that could take away the route that is paused. */
  pause(surely: boolean): void {
    this.asked(() => {
      for (const { id } of this.supervisor.config().routes) this.supervisor.pauseRoute(id);
      this.owner.paused = surely;
    });
  }

  resume(): void {
    this.asked(() => {
      this.owner.paused = false;
      for (const { id } of this.supervisor.config().routes) this.supervisor.resumeRoute(id);
    });
  }

  /** It stands still: stopped, or with its machine (`machine`), whose clock does not show that. */
  freeze(machine: boolean): () => void {
    const since = this.#time.now;
    this.freezes++;
    this.#time.freeze(this.owner);
    return () => {
      if (this.owner.frozen === undefined) return;
      if (machine) this.clock.stoodStill(this.#time.now - since);
      this.#time.thaw(this.owner);
    };
  }

  /** Nothing gets through to an edge (`>`) or from it (`<`) until then. */
  block(edge: string, ways: readonly (">" | "<")[], until: number): void {
    for (const way of ways) this.owner.blocked?.set(`${edge} ${way}`, until);
  }

  /** It ends in order, as the host ends a process; `onEnded`: its engine has. */
  async end(onEnded?: () => void): Promise<void> {
    this.ending = true;
    const { configured, supervisor } = this;
    const looked = configured?.lastLook();
    const ended = supervisor.shutdown().then(onEnded);
    configured?.follower.stop();
    await Promise.all([ended, looked]);
    await configured?.end();
  }

  /** Its memory is gone, and promises that still run in it reach nobody. */
  kill(): void {
    this.clock.jump(0);
    this.owner.alive = false;
    this.cut(0);
  }
}

function traced(name: string, add: (line: string) => void): Logger {
  const line = (level: string) => (message: string, fields?: LogFields) => {
    const code = fields?.["code"];
    add(`${name} ${level}: ${message}${typeof code === "string" ? ` (${code})` : ""}`);
  };
  const logger: Logger = {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: () => logger,
  };
  return logger;
}
