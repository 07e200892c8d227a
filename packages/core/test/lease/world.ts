import { BridgeError, type Clock, type LeaseRecord, type LeaseStore } from "@bridge/ports";

interface Event {
  readonly at: number;
  readonly machine: Machine | undefined;
  readonly fire: () => void;
}

const LOOK_EVERY_MS = 200;

/** How the store answers at the moment. Latencies are for each way. */
export type StoreMood = {
  readonly kind: "fine" | "refusing" | "written_then_refusing" | "deaf" | "mute";
  readonly latencyMs: number;
};

export const FINE: StoreMood = { kind: "fine", latencyMs: 5 };

/** Time as nobody's clock shows it, one lease, and what happens between machines. */
export class World {
  time = 0;
  record: LeaseRecord | undefined;
  mood = FINE;
  /** Looks on after everything that happens. */
  observe: () => void = () => {};
  /** Sees every replacement that is made. */
  replaced: (before: LeaseRecord | undefined, after: LeaseRecord) => void = () => {};
  readonly #events = new Set<Event>();

  /** What is still to happen, such as timers that were not taken back. */
  get pending(): number {
    return this.#events.size;
  }

  at(time: number, machine: Machine | undefined, fire: () => void): () => void {
    const event = { at: time, machine, fire };
    this.#events.add(event);
    return () => void this.#events.delete(event);
  }

  /** Lets `ms` pass: what is due happens in its order, and what it sets off has a turn before the next. */
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    await turn();
    for (;;) {
      const next = [...this.#events].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#events.delete(next);
      // In between somebody wants to send, all the time.
      while (this.time + LOOK_EVERY_MS < next.at) {
        this.time += LOOK_EVERY_MS;
        this.observe();
      }
      this.time = Math.max(this.time, next.at);
      await this.#happen(next);
    }
    this.time = end;
    this.observe();
  }

  async #happen({ machine, fire }: Event): Promise<void> {
    if (machine?.frozen === true) {
      machine.backlog.push(fire);
      return;
    }
    if (machine?.dead === true) return;
    fire();
    await turn();
    this.observe();
  }
}

/** A process on a machine with a clock of its own, which may run fast or slow; the process may be frozen, or dead. */
export class Machine implements Clock {
  readonly backlog: (() => void)[] = [];
  frozen = false;
  dead = false;
  readonly #world: World;
  readonly #rate: number;
  readonly #offset: number;

  constructor(world: World, rate: number, offset: number) {
    this.#world = world;
    this.#rate = rate;
    this.#offset = offset;
  }

  /** How far the monotonic clock is behind, because it stood still with its machine. */
  stoodMs = 0;

  monotonic(): number {
    return this.#offset + this.#world.time * this.#rate - this.stoodMs;
  }

  /** Wrong by hours: nothing may compare it with another machine's. */
  now(): number {
    return Math.sin(this.#offset) * 7_200_000 + this.#world.time * this.#rate;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const cancel = this.#world.at(this.#world.time + ms / this.#rate, this, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      const onAbort = (): void => {
        cancel();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  after(ms: number, fire: () => void): Disposable {
    const cancel = this.#world.at(this.#world.time + ms / this.#rate, this, fire);
    return { [Symbol.dispose]: () => cancel() };
  }

  turn(run: () => void): void {
    setImmediate(run);
  }

  every(): Disposable {
    throw new Error("leases need no ticking");
  }

  /** How long `ms` of this machine are for the world. */
  worldly(ms: number): number {
    return ms / this.#rate;
  }

  /** What was due meanwhile happens now; and a message may come in before that. */
  async thaw(): Promise<void> {
    this.frozen = false;
    this.#world.observe();
    for (const fire of this.backlog.splice(0)) {
      fire();
      await turn();
      this.#world.observe();
    }
  }

  /** The lease store as this machine reaches it, over a network on which requests and answers get lost. */
  store(): LeaseStore {
    const world = this.#world;
    return {
      read: (_, signal) => this.#call(signal, () => world.record),
      replace: (_, expected, next, signal) =>
        this.#call(signal, () => {
          const before = world.record;
          if (before?.token !== expected?.token || before?.beat !== expected?.beat) return false;
          world.record = { ...next };
          world.replaced(before, next);
          return true;
        }),
      async [Symbol.asyncDispose]() {},
    };
  }

  #call<T>(signal: AbortSignal, apply: () => T): Promise<T> {
    const world = this.#world;
    const { kind, latencyMs } = world.mood;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const answer = (tell: () => void): void => void world.at(world.time + latencyMs, this, tell);
    const refused = new BridgeError("UNAVAILABLE", "the lease store is away");
    world.at(world.time + latencyMs, undefined, () => {
      if (kind === "deaf") return;
      if (kind === "refusing") return answer(() => reject(refused));
      // Also when whoever asked has given up, or is no more.
      const result = apply();
      if (kind === "fine") answer(() => resolve(result));
      if (kind === "written_then_refusing") answer(() => reject(refused));
    });
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    return promise;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
