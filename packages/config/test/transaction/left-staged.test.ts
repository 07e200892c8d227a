import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { type Clock, type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type BridgeConfig,
  type CommitTrial,
  type ConfigApplier,
  createConfigTransactions,
  settleStaged,
} from "../../src/index.ts";
import { sources } from "../support/arbitrary-documents.ts";
import { TOUCHES_NOTHING } from "../support/change-plans.ts";
import { goodDocument } from "../support/documents.ts";
import { registry } from "../support/plugins.ts";

const NEVER = new AbortController().signal;
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];

/** A process of an instance: it can stand still, and die. */
class Process {
  readonly #clock: ManualClock;
  readonly #timers = new Set<Disposable>();
  readonly #store;
  readonly transactions;
  readonly settled;
  isStill = false;
  /** What it had in force, the last one last. */
  readonly applied: (number | undefined)[] = [];
  readonly said: string[] = [];

  private constructor(
    clock: ManualClock,
    held: MemoryDocument,
    instanceId: string,
    settled: Awaited<ReturnType<typeof settleStaged>>,
  ) {
    this.#clock = clock;
    this.#store = openMemoryConfig(held);
    this.settled = settled;
    const applier: ConfigApplier = {
      apply: (config: BridgeConfig) => {
        this.applied.push(config.configVersion);
        return Promise.resolve("applied");
      },
      stranding: () => Promise.resolve(undefined),
      beyondRecovery: () => false,
      plan: () => Promise.resolve(TOUCHES_NOTHING),
      trial: { running: () => true, reaches: () => true, sends: () => ({ sends: 0, failed: 0 }) },
    };
    const say = (message: string): void => void this.said.push(message);
    const logger: Logger = { ...silentLogger, error: say, warn: say };
    this.transactions = createConfigTransactions({
      store: this.#store,
      registry,
      sources,
      applier,
      instanceId,
      settled: settled && { reverted: settled },
      clock: this.#ownClock(),
      random: systemRandom(),
      logger,
    });
  }

  static async start(clock: ManualClock, held: MemoryDocument, instanceId: string): Promise<Process> {
    const store = openMemoryConfig(held);
    const settled = await settleStaged(store, instanceId, { clock, logger: silentLogger });
    return new Process(clock, held, instanceId, settled);
  }

  kill(): void {
    this.isStill = true;
    for (const timer of this.#timers) timer[Symbol.dispose]();
  }

  async commit(level: string, trial?: CommitTrial) {
    const { id } = await this.transactions.open(5 * MINUTE, NEVER);
    await this.transactions.patch(id, { bridge: { drain_timeout: level } }, NEVER);
    return this.transactions.commit(id, "alice", trial);
  }

  /** What it starts is looked at by nobody while it stands still. */
  #ownClock(): Clock {
    const clock = this.#clock;
    const every: Clock["every"] = (ms, work) => {
      const timer = clock.every(ms, () => {
        if (!this.isStill) work();
      });
      this.#timers.add(timer);
      return timer;
    };
    return new Proxy<Clock>(clock, {
      get: (target, name) => {
        if (name === "every") return every;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  }
}

async function world() {
  const clock = new ManualClock();
  const held = new MemoryDocument(goodDocument());
  const start = (name: Name) => Process.start(clock, held, name);
  const processes = { a: await start("a"), b: await start("b"), c: await start("c") };
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    for (const { transactions } of Object.values(processes))
      while (transactions.underWay !== undefined) await transactions.underWay.catch(() => {});
    await new Promise(setImmediate);
  };
  const restart = async (name: Name): Promise<Process> => {
    processes[name].kill();
    return (processes[name] = await start(name));
  };
  const stored = openMemoryConfig(held);
  return { clock, held, processes, pass, restart, stored };
}

const reasonOf = (error: unknown): unknown => (error as { reason?: unknown }).reason;

describe("a change on probation whose process has ended", () => {
  it("operators 7: ends at the next start of its instance, and others commit at once", async () => {
    const { processes, restart, stored } = await world();
    await processes.a.commit("1s", { withinMs: HOUR });
    const again = await restart("a");
    expect(again.settled).toMatchObject({ version: 4, formerVersion: 3, why: "process_ended", actor: "alice" });
    expect(again.transactions.reverts()).toMatchObject({ process_ended: 1 });
    expect(stored.staging?.seen).toBeUndefined();
    expect(await processes.b.transactions.history(NEVER)).toMatchObject([
      { version: 4, available: true, actor: "alice", reverted: { why: "process_ended" } },
    ]);
    await expect(again.transactions.confirm(4)).rejects.toMatchObject({ reason: "reverted" });
    expect(await processes.b.commit("2s")).toEqual({ status: "committed", version: 5 });
  });

  it("operators 7: of another instance is left alone by a start", async () => {
    const { processes, restart, stored } = await world();
    await processes.a.commit("1s", { withinMs: HOUR });
    expect((await restart("b")).settled).toBeUndefined();
    expect(stored.staging?.seen).toMatchObject({ version: 4, by: "a" });
    await processes.a.transactions.confirm(4);
    expect((await stored.load(NEVER))?.version).toBe(4);
  });

  it("operators 7: is told with one way out by every refusal, before and after its end", async () => {
    const { processes, pass } = await world();
    const { a, b } = processes;
    await a.commit("1s", { withinMs: MINUTE });
    a.kill();
    for (const told of [
      /until .*: confirm it there, or revert it at any instance$/,
      /revert it at any instance; from /,
    ]) {
      await expect(b.transactions.open(MINUTE, NEVER)).rejects.toThrow(told);
      await expect(b.transactions.confirm(4)).rejects.toThrow(told);
      await pass(MINUTE + SECOND);
    }
    expect(await b.transactions.revert(4, "it is gone")).toEqual({ status: "rolled_back", version: 3 });
    await expect(b.transactions.revert(4, "it is gone")).rejects.toMatchObject({ reason: "reverted" });
    await b.transactions.open(MINUTE, NEVER);
  });

  it("operators 7: is told by every other instance from a minute after its end, until somebody has ended it", async () => {
    const { processes, pass } = await world();
    const { a, b, c } = processes;
    await a.commit("1s", { withinMs: MINUTE });
    a.kill();
    expect(b.transactions.leftElsewhere()).toBeUndefined();
    await pass(MINUTE + MINUTE - SECOND);
    expect(b.transactions.leftElsewhere()).toBeUndefined();
    await pass(SECOND);
    for (const { transactions } of [b, c])
      expect(transactions.leftElsewhere()?.told).toContain(
        "version 4 was on probation at the instance a until 2026-01-01T00:01:00.000Z, and that instance has not ended it: revert it at any instance",
      );
    await b.transactions.revert(4, "it is gone");
    expect(c.transactions.leftElsewhere()).toBeUndefined();
  });

  it("operators 7: a committer that stands still meanwhile goes back when it goes on, and tells that another took it back", async () => {
    const { processes, pass } = await world();
    const { a, b } = processes;
    await a.commit("1s", { withinMs: HOUR });
    a.isStill = true;
    await b.transactions.revert(4, "it does not answer");
    await pass(MINUTE);
    expect(a.applied.at(-1)).toBe(4);
    a.isStill = false;
    await pass(SECOND);
    expect(a.applied.at(-1)).toBe(3);
    expect(a.transactions.probation()).toBeUndefined();
    expect(a.said.join()).toContain("taken back at another instance: what is stored runs again");
    await expect(a.transactions.confirm(4)).rejects.toMatchObject({ reason: "reverted" });
  });

  it.each(["found at its next look", "found when it is confirmed"])(
    "operators 7: a committer whose change was taken back and replaced while it stood still tells so, %s",
    async (found) => {
      const { processes, pass } = await world();
      const { a, b } = processes;
      await a.commit("1s", { withinMs: HOUR });
      a.isStill = true;
      await b.transactions.revert(4, "it does not answer");
      expect(await b.commit("2s")).toEqual({ status: "committed", version: 5 });
      await pass(MINUTE);
      a.isStill = false;
      if (found === "found at its next look") await pass(SECOND);
      await expect(a.transactions.confirm(4)).rejects.toMatchObject({ reason: "reverted" });
      await expect(a.transactions.revert(4, "late")).rejects.toMatchObject({ reason: "reverted" });
      expect(a.applied.at(-1)).toBe(5);
      expect(await a.transactions.history(NEVER)).toMatchObject([
        { version: 5 },
        { version: 4, reverted: { why: "operator" } },
      ]);
    },
  );

  it.each([
    ["a commit", undefined],
    ["another one that is tried out", { withinMs: HOUR }],
  ])(
    "operators 7: what was left on probation for too long is taken back before %s comes in its place, under a version of its own",
    async (_, trial) => {
      const { processes, pass } = await world();
      const { a, b } = processes;
      await a.commit("1s", { withinMs: MINUTE });
      a.isStill = true;
      await pass(6 * MINUTE + SECOND);
      expect(await b.commit("2s", trial)).toMatchObject({ version: 5 });
      expect(b.transactions.reverts()).toMatchObject({ not_confirmed: 1 });
      a.isStill = false;
      for (const ending of [a.transactions.confirm(4), a.transactions.revert(4, "no")])
        await expect(ending).rejects.toMatchObject({ reason: "reverted" });
      await pass(SECOND);
      if (trial !== undefined) await b.transactions.confirm(5);
      await pass(MINUTE);
      expect(b.applied.at(-1)).toBe(5);
      expect(await b.transactions.history(NEVER)).toMatchObject([
        { version: 5 },
        { version: 4, actor: "alice", reverted: { why: "not_confirmed" } },
      ]);
    },
  );

  it("operators 7: a commit while another instance has one on probation tells the reason and both ways out", async () => {
    const { processes } = await world();
    const { a, b } = processes;
    const { id } = await b.transactions.open(MINUTE, NEVER);
    await b.transactions.patch(id, { bridge: { drain_timeout: "2s" } }, NEVER);
    await a.commit("1s", { withinMs: HOUR });
    const result = await b.transactions.commit(id, "bob");
    expect(result).toMatchObject({ status: "conflict", reason: "probation" });
    expect(result).toMatchObject({
      error: expect.stringMatching(/instance a until .*: confirm it there, or revert it at any/) as unknown,
    });
  });

  it("operators 7: is told once of a change that two take back at once", async () => {
    const { processes } = await world();
    const { a, b, c } = processes;
    await a.commit("1s", { withinMs: HOUR });
    await Promise.allSettled([a, b, c].map(({ transactions }) => transactions.revert(4, "no")));
    const history = (await c.transactions.history(NEVER)) ?? [];
    expect(history.filter(({ version }) => version === 4)).toMatchObject([{ reverted: { why: "operator" } }]);
    a.kill();
  });

  it("operators 7: whoever is killed, stands still, comes back, confirms or takes back: one end wins, everybody sees it, and there is a way out", async () => {
    const name = fc.constantFrom(...NAMES);
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant("try" as const), name }) },
      fc.record({ do: fc.constantFrom("commit", "restart", "kill", "still", "on"), name }),
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("confirm", "revert"), name }) },
      fc.record({ do: fc.constantFrom("second", "minute", "later"), name }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const { processes, pass, restart, stored } = await world();
        const ran = { stored: new Set([3]), reverted: new Set<number>() };
        let count = 0;
        const look = async (): Promise<number> => {
          const version = (await stored.load(NEVER))?.version ?? 0;
          ran.stored.add(version);
          return version;
        };
        const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(reasonOf);
        const seen = (): number => stored.staging?.seen?.version ?? 4;
        for (const { do: what, name: who } of [...steps, { do: "end", name: "a" as const }]) {
          const { [who]: one } = processes;
          const isUp = !one.isStill;
          if (what === "try" && isUp) await quietly(one.commit(`${++count}s`, { withinMs: 10 * MINUTE }));
          else if (what === "commit" && isUp) await quietly(one.commit(`${++count}s`));
          else if (what === "restart") await restart(who);
          else if (what === "kill") one.kill();
          else if (what === "still") one.isStill = true;
          else if (what === "on") one.isStill = false;
          else if (what === "confirm" && isUp) await quietly(one.transactions.confirm(seen()));
          else if (what === "revert" && isUp) {
            const version = seen();
            const was = stored.staging?.seen;
            const result = await quietly(one.transactions.revert(version, "no"));
            if (was !== undefined) expect(result).toMatchObject({ status: "rolled_back" });
          } else if (what === "second") await pass(SECOND);
          else if (what === "minute") await pass(MINUTE);
          else if (what === "later") await pass(16 * MINUTE);
          await look();
        }
        // Who stood still goes on; who died comes back.
        for (const who of NAMES) if (processes[who].isStill) await restart(who);
        await pass(SECOND);
        const left = stored.staging?.seen;
        if (left !== undefined)
          expect(await processes.b.transactions.revert(left.version, "no")).toMatchObject({ status: "rolled_back" });
        await pass(SECOND);
        await look();
        const history = (await processes.c.transactions.history(NEVER)) ?? [];
        for (const { version, reverted, pending } of history) {
          expect(pending, "nothing is staged").toBeUndefined();
          if (reverted === undefined) continue;
          expect(ran.reverted.has(version), `version ${version} is told twice`).toBe(false);
          ran.reverted.add(version);
          expect(ran.stored.has(version), `version ${version} was stored and taken back`).toBe(false);
        }
        for (const { applied, transactions } of Object.values(processes)) {
          expect(transactions.probation()).toBeUndefined();
          expect(ran.reverted.has(applied.at(-1) ?? 0), "it runs what was taken back").toBe(false);
        }
        expect(await processes.c.commit("999s")).toMatchObject({ status: "committed" });
        for (const process of Object.values(processes)) process.kill();
      }),
      { numRuns: 150 },
    );
  });
});
