import { times } from "@bridge/tooling/long";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Owner, POLL_MS, TTL_MS } from "./owner.ts";
import { FINE, type StoreMood, World } from "./world.ts";

/** Within what the holder allows for. */
const RATES = [0.995, 1, 1.004] as const;

/** Three instances, of which those that ended are replaced by new processes, as an orchestrator does. */
class Cluster {
  readonly world = new World();
  readonly owners: Owner[] = RATES.map((rate) => new Owner(this.world, rate));
  readonly #former: Owner[] = [];
  #lastToken = 0;

  constructor() {
    this.world.observe = () => this.#check();
    this.world.replaced = (before, after) => {
      const released = after.holder === "";
      const sameHolder = before?.holder === after.holder;
      const leastToken = (before?.token ?? 0) + (sameHolder || released ? 0 : 1);
      if (after.token < leastToken) throw new Error(`token ${after.token} after ${before?.token}`);
      if (released && before?.token !== after.token) throw new Error("a release under another token");
      if (before?.token === after.token && before.beat === after.beat) throw new Error("a write that moves nothing");
    };
  }

  owner(index: number): Owner {
    const owner = this.owners[index % this.owners.length];
    if (owner === undefined) throw new Error("no owner");
    return owner;
  }

  /** A new process in the place of one that has ended. */
  replace(index: number): void {
    const place = index % this.owners.length;
    this.#former.push(this.owner(place));
    this.owners[place] = new Owner(this.world, RATES[place] ?? 1);
    this.owner(place).start();
  }

  #check(): void {
    const live = this.owners.filter((owner) => owner.live);
    if (live.length > 1) throw new Error(`${live.length} instances act on one lease`);
    for (const owner of live) {
      const rivals = [...this.owners, ...this.#former].filter((other) => other !== owner);
      const { token = 0 } = owner;
      if (token < this.#lastToken) throw new Error(`sends under token ${token} after ${this.#lastToken}`);
      this.#lastToken = token;
      if (!owner.send()) continue;
      const overlapping = rivals.find((other) => other.sendingUntil > this.world.time);
      if (overlapping !== undefined) throw new Error("sends while a send of another may be under way");
    }
  }
}

type Command = fc.AsyncCommand<object, Cluster>;

function command(name: string, run: (cluster: Cluster) => Promise<unknown> | void): Command {
  return {
    check: () => true,
    async run(_, cluster) {
      await run(cluster);
      await cluster.world.pass(1);
    },
    toString: () => name,
  };
}

const anyOwner = fc.nat(RATES.length - 1);
const anyMood: fc.Arbitrary<StoreMood> = fc.record({
  kind: fc.constantFrom("fine", "refusing", "written_then_refusing", "deaf", "mute"),
  latencyMs: fc.constantFrom(1, 50, 1_000, 2_000, 2_400, 4_000),
});
const pass = fc.integer({ min: 1, max: TTL_MS }).map((ms) => command(`pass ${ms}`, ({ world }) => world.pass(ms)));
/** Whoever holds the lease is frozen for as long as it takes to lose it, give or take a little. */
const nap = fc.integer({ min: TTL_MS / 2, max: TTL_MS + 2 * POLL_MS }).map((ms) =>
  command(`freeze the holder for ${ms}`, async ({ world, owners }) => {
    const machine = owners.find(({ live }) => live)?.machine;
    if (machine === undefined) return;
    machine.frozen = true;
    await world.pass(ms);
    await machine.thaw();
  }),
);
const trouble = fc.tuple(anyMood, fc.integer({ min: 1, max: 2 * TTL_MS })).map(([mood, ms]) =>
  command(`store ${mood.kind} ${mood.latencyMs} for ${ms}`, ({ world }) => {
    world.mood = mood;
    world.at(world.time + ms, undefined, () => (world.mood = FINE));
  }),
);
const freeze = anyOwner.map((i) => command(`freeze ${i}`, (cluster) => void (cluster.owner(i).machine.frozen = true)));
const thaw = anyOwner.map((i) => command(`thaw ${i}`, (cluster) => cluster.owner(i).machine.thaw()));
const start = anyOwner.map((i) => command(`start ${i}`, (cluster) => cluster.owner(i).start()));
/** Not waited for: what comes next may come in the middle of it. */
const stop = anyOwner.map((i) => command(`stop ${i}`, (cluster) => void cluster.owner(i).stop()));
const kill = anyOwner.map((i) =>
  command(`kill ${i}`, (cluster) => {
    cluster.owner(i).kill();
    cluster.replace(i);
  }),
);
const restart = anyOwner.map((i) =>
  command(`restart ${i} if it has ended`, (cluster) => {
    if (cluster.owner(i).lost !== undefined) cluster.replace(i);
  }),
);
const reach = fc.tuple(anyOwner, fc.boolean()).map(([i, reaches]) =>
  command(`${i} ${reaches ? "reaches" : "loses"} its broker`, (cluster) => {
    cluster.owner(i).reaches = reaches;
  }),
);
/** Long enough for whoever does not reach its broker to yield. */
const wait = fc
  .integer({ min: 3, max: 7 })
  .map((ttls) => command(`${ttls} ttls`, ({ world }) => world.pass(ttls * TTL_MS)));
/** Weighted by repetition. */
const COMMANDS = [
  pass,
  pass,
  pass,
  nap,
  nap,
  nap,
  trouble,
  reach,
  reach,
  wait,
  freeze,
  thaw,
  thaw,
  start,
  start,
  stop,
  kill,
  restart,
  restart,
];

describe("a lease among instances whose clocks drift, whose processes freeze and die, and which lose their store or broker", () => {
  test(
    "no two act on it at a time, tokens only grow, a standby never ends, and in the end one has it that reaches its broker",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40, size: "max" }), async (commands) => {
          const cluster = new Cluster();
          for (const owner of cluster.owners) owner.start();
          await fc.asyncModelRun(() => ({ model: {}, real: cluster }), commands);
          await settled(cluster);
          expect(cluster.owners.filter((owner) => owner.live)).toHaveLength(1);
          const [holder] = cluster.owners.filter((owner) => owner.connected);
          if (holder === undefined) throw new Error("whoever holds it is not connected");
          holder.reaches = false;
          await cluster.world.pass(4 * TTL_MS);
          const [next] = cluster.owners.filter((owner) => owner.connected);
          expect(next === undefined || next === holder).toBe(false);
          expect(holder.lost).toBeUndefined();
        }),
        { numRuns: times(5, 15) },
      );
    },
  );
});

/** Everything works again, and whoever has ended is started anew: before long somebody holds the lease, and sends. */
async function settled(cluster: Cluster): Promise<void> {
  const { world } = cluster;
  world.mood = FINE;
  for (const owner of cluster.owners) {
    owner.reaches = true;
    await owner.machine.thaw();
  }
  await world.pass(4 * TTL_MS);
  for (const [index, owner] of cluster.owners.entries()) {
    if (owner.lost !== undefined) cluster.replace(index);
    else owner.start();
  }
  await world.pass(2 * TTL_MS + 2 * POLL_MS);
}
