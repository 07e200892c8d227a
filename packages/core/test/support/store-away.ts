import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { FakeClock } from "./fake-clock.ts";

/** What a store does with calls: serves them, refuses them, or keeps them until it is well again. */
export type Manner = "well" | "refuses" | "hangs";

export interface OutboxAway {
  readonly clock: FakeClock;
  readonly store: OutboxStore;
  become(manner: Manner): void;
}

/** An outbox whose service can go away; `shared` as those of services are. */
export function outboxAway(first: Manner, shared = true): OutboxAway {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random: systemRandom() });
  const calls = new Set<unknown>(["persist", "claim", "claimOne", "finish", "status", "redriving", "backlog", "list"]);
  const now = { manner: first, changed: Promise.withResolvers<void>() };
  return {
    clock,
    become(next) {
      now.changed.resolve();
      Object.assign(now, { manner: next, changed: Promise.withResolvers<void>() });
    },
    store: new Proxy(memory, {
      get(target, name) {
        if (name === "shared") return shared;
        if (name === "prove") return () => (now.manner === "hangs" ? now.changed.promise : Promise.resolve());
        const value: unknown = Reflect.get(target, name);
        if (!calls.has(name) || typeof value !== "function") return value;
        return async (...args: readonly unknown[]) => {
          const signal = args.at(-1) as AbortSignal;
          while (now.manner === "hangs") await orAborted(now.changed.promise, signal);
          if (now.manner === "refuses") throw new BridgeError("CONNECTION_LOST", "the server is away");
          return (value as (...given: readonly unknown[]) => unknown).apply(target, [...args]);
        };
      },
    }),
  };
}
