import { randomUUID } from "node:crypto";
import { openMemoryLeases } from "@bridge/memory";
import { BridgeError, type LeaseStore, type SessionRole } from "@bridge/ports";
import { type MemoryChannel, MemoryHub, memoryHub, type MemoryLink } from "@bridge/transport-memory";
import type { Supervisor } from "../../src/supervisor/contract.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

export const TTL_MS = 20_000;
export const POLL_MS = 2_000;
export const STEP_MS = 10;

/** A lease store that an instance can be cut off from. */
class Reach {
  cut = false;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  open(): LeaseStore {
    const store = openMemoryLeases({ name: this.name });
    const begin = (): void => {
      if (this.cut) throw new BridgeError("UNAVAILABLE", "the lease store is away");
    };
    return {
      async read(key, signal) {
        begin();
        return store.read(key, signal);
      },
      async replace(key, expected, next, signal) {
        begin();
        return store.replace(key, expected, next, signal);
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  }
}

/** A broker that all instances have in common, with connections of one of them. */
class ConnectionsOf extends MemoryHub {
  readonly #broker: MemoryHub;
  readonly #instanceId: string;

  constructor(broker: MemoryHub, instanceId: string) {
    super();
    this.#broker = broker;
    this.#instanceId = instanceId;
  }

  override channel(name: string): MemoryChannel {
    return this.#broker.channel(name);
  }

  override link(sessionId: string, half: SessionRole): MemoryLink {
    return this.#broker.link(`${this.#instanceId} ${sessionId}`, half);
  }
}

export interface Instance extends MemoryBridge {
  readonly reach: Reach;
}

export interface Pair extends AsyncDisposable {
  readonly hub: MemoryHub;
  readonly clock: FakeClock;
  readonly a: Instance;
  readonly b: Instance;
}

/** Two instances of one bridge, of which `a` has been started first and is active. */
export async function pair(options: MemoryBridgeOptions = {}): Promise<Pair> {
  const [hub, clock, name] = [memoryHub(), options.clock ?? new FakeClock(), randomUUID()];
  const [a, b] = ["plant-a", "plant-b"].map((instanceId): Instance => {
    const reach = new Reach(name);
    const own = new ConnectionsOf(hub, instanceId);
    const bridge = memoryBridge({
      session: true,
      leases: () => reach.open(),
      instanceId,
      hub: own,
      clock,
      policy: { sendTimeoutMs: TTL_MS / 2 },
      ...options,
    });
    return Object.assign(bridge, { reach });
  });
  if (a === undefined || b === undefined) throw new Error("no instances");
  await a.supervisor.start(bound());
  await clock.until(() => level(a) === "full");
  await b.supervisor.start(bound());
  await clock.until(() => level(b) === "subscribed");
  return {
    hub,
    clock,
    a,
    b,
    async [Symbol.asyncDispose]() {
      const over = Promise.allSettled([a.supervisor.shutdown(), b.supervisor.shutdown()]);
      let ended = false;
      void over.then(() => (ended = true));
      await clock.until(() => ended, 100);
    },
  };
}

export function level({ supervisor }: { readonly supervisor: Supervisor }): string {
  return supervisor.view().level;
}

export function role({ supervisor }: Instance): string {
  return supervisor.view().role;
}

/** What has come out, in its order. */
export function numbersOut(hub: MemoryHub): readonly number[] {
  const messages = hub.channel("out").drain();
  return messages.map((message) => Number(new TextDecoder().decode(message.payload)));
}

export function publish(hub: MemoryHub, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    hub.publish("in", { id: `m${i}`, payload: `${i}`, orderingKey: `key-${i % 3}` });
  }
}
