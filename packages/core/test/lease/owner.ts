import { type Logger, silentLogger } from "@bridge/ports";
import { Lease } from "../../src/lease/lease.ts";
import { LeaseKeeper } from "../../src/lease/lease-keeper.ts";
import { LeaseLost } from "../../src/lease/lease-lost.ts";
import { LeaseWriter } from "../../src/lease/lease-writer.ts";
import { Machine, type World } from "./world.ts";

export const TTL_MS = 20_000;
export const POLL_MS = 1_000;
const SEND_MS = 10_000;

let nonce = 0;

/** One instance: a process with a keeper, which sends whenever it may. */
export class Owner {
  readonly machine: Machine;
  readonly holder = `owner/${nonce++}`;
  readonly count = { acquisitions: 0, losses: 0, yields: 0, failures: 0 };
  readonly #world: World;
  #reaches = true;
  #linked = false;
  #lease: Lease | undefined;
  #run: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  /** Why it must not go on. */
  lost: LeaseLost | undefined;
  /** Of sends, by the world's time: how long the last one may be under way. */
  sendingUntil = 0;
  readonly #logger: Logger;

  readonly #pollMs: number;

  constructor(world: World, rate: number, { logger = silentLogger, pollMs = POLL_MS } = {}) {
    this.#world = world;
    this.#pollMs = pollMs;
    this.#logger = logger;
    this.machine = new Machine(world, rate, 1_000_000 * Math.abs(rate));
  }

  get running(): boolean {
    return this.#run !== undefined && this.lost === undefined && !this.machine.dead;
  }

  /** Whether it may act on its lease right now, by its own clock. */
  get live(): boolean {
    return this.running && !this.machine.frozen && this.#lease?.term?.live === true;
  }

  /** Whether it has seen another hold it, and be alive. */
  get elsewhere(): boolean {
    return this.#lease?.elsewhere === true;
  }

  get token(): number | undefined {
    return this.#lease?.term?.token;
  }

  /** Whether it reaches the broker that its lease is for; its one link is connected exactly then and while it holds the lease. */
  get reaches(): boolean {
    return this.#reaches;
  }

  set reaches(reaches: boolean) {
    this.#reaches = reaches;
    this.#relink();
  }

  get connected(): boolean {
    return this.live && this.#linked;
  }

  #relink(): void {
    const linked = this.#reaches && this.#lease?.held === true;
    if (linked === this.#linked) return;
    this.#linked = linked;
    if (linked) this.#lease?.connected();
    else this.#lease?.disconnected();
  }

  async #keepLink(lease: Lease, stop: AbortSignal): Promise<void> {
    for (;;) {
      const term = await lease.whenHeld(stop);
      this.#relink();
      await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
      this.#relink();
    }
  }

  /** Something is open under its lease until the returned function is called. */
  open(): () => void {
    const closed = Promise.withResolvers<void>();
    void this.#lease?.term?.use(() => closed.promise);
    return closed.resolve;
  }

  start(): void {
    // What is lost ends the process, so that nothing can be started in it any more.
    if (this.#run !== undefined || this.lost !== undefined || this.machine.dead) return;
    const { machine, holder, count } = this;
    const lease = new Lease("s", "bridge/s");
    const store = machine.store();
    const before = count.acquisitions;
    const keeper = new LeaseKeeper({
      lease,
      writer: new LeaseWriter({ key: lease.key, clock: machine, store: () => store }),
      holder,
      timing: () => ({ leaseTtlMs: TTL_MS, leasePollIntervalMs: this.#pollMs }),
      count,
      clock: machine,
      logger: this.#logger,
    });
    const stop = new AbortController();
    const ended = keeper.run(stop.signal).catch((error: unknown) => {
      if (!(error instanceof LeaseLost)) throw error;
      if (count.acquisitions === before) throw new Error("a standby became terminal", { cause: error });
      this.lost = error;
    });
    this.#lease = lease;
    void this.#keepLink(lease, stop.signal).catch(() => {});
    this.#run = { stop, ended };
  }

  /** Resolves when it has let go; a process that is frozen does not hear of it before it thaws. */
  stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined || this.machine.frozen) return Promise.resolve();
    run.stop.abort(new Error("stopped"));
    return run.ended.finally(() => {
      this.#run = undefined;
    });
  }

  /** Dies in the middle of whatever it does. */
  kill(): void {
    this.machine.dead = true;
  }

  lasts(ms: number): boolean {
    return this.live && this.#lease?.term?.lasts(ms) === true;
  }

  /** Begins a send if it may. */
  send(): boolean {
    const term = this.#lease?.term;
    if (term === undefined || !this.lasts(SEND_MS)) return false;
    this.sendingUntil = this.#world.time + this.machine.worldly(SEND_MS);
    // As a route does, which gives up its sends when a term ends.
    term.signal.addEventListener("abort", () => (this.sendingUntil = this.#world.time), { once: true });
    return true;
  }
}
