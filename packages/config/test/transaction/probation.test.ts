import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type BridgeConfig,
  type CommitTrial,
  type ConfigApplier,
  createConfigTransactions,
  type Reverted,
} from "../../src/index.ts";
import { sources } from "../support/arbitrary-documents.ts";
import { beginsAgain } from "../support/change-plans.ts";
import { goodDocument } from "../support/documents.ts";
import { registry } from "../support/plugins.ts";

const NEVER = new AbortController().signal;
const SECOND = 1_000;
const MINUTE = 60_000;
const DEBUG = { bridge: { log_level: "debug" } };

/** Instances on one document in which nobody has committed yet: version 3. */
function stage() {
  const held = new MemoryDocument(goodDocument());
  const clock = new ManualClock();
  const instance = (instanceId: string) => {
    const store = openMemoryConfig(held);
    const applied: BridgeConfig[] = [];
    const reverted: Reverted[] = [];
    const logged: string[] = [];
    const facts = { running: true, full: true, sends: 0, failed: 0, strands: false, notInForce: 0, swapMs: 0 };
    const log = (message: string): void => void logged.push(message);
    const logger: Logger = { ...silentLogger, error: log, warn: log };
    const applier: ConfigApplier = {
      async apply(config) {
        if (facts.strands) throw new Error("it would leave messages behind");
        clock.advance(facts.swapMs);
        applied.push(config);
        return "applied";
      },
      stranding: () => Promise.resolve(undefined),
      beyondRecovery: () => false,
      plan: (config) => Promise.resolve(beginsAgain(config)),
      trial: {
        running: () => facts.running,
        reaches: () => facts.full,
        sends: (routes) => (routes.includes("alarms") ? { ...facts } : { sends: 0, failed: 0 }),
      },
    };
    const transactions = createConfigTransactions({
      store,
      registry,
      sources,
      applier,
      instanceId,
      clock,
      random: systemRandom(),
      logger,
      onReverted: (one) => void reverted.push(one),
      onNotInForce: () => void facts.notInForce++,
    });
    const commit = async (trial?: CommitTrial, overlay: Readonly<Record<string, unknown>> = DEBUG) => {
      const { id } = await transactions.open(5 * MINUTE, NEVER);
      await transactions.patch(id, overlay, NEVER);
      return transactions.commit(id, "alice", trial);
    };
    const runs = (): readonly [version: number | undefined, level: string | undefined] => {
      const last = applied.at(-1);
      return [last?.configVersion, last?.bridge.logLevel];
    };
    /** So long that everything that it set off is done. */
    const pass = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await transactions.underWay?.catch(() => {});
      await new Promise(setImmediate);
      while (transactions.underWay !== undefined) await transactions.underWay.catch(() => {});
    };
    /** The store does not answer to this call until what is returned is called. */
    const cut = (call: "confirm" | "discard"): (() => void) => {
      const { staging } = store;
      if (staging === undefined) throw new Error("the memory store stages documents");
      const real = staging[call];
      Object.assign(staging, { [call]: () => Promise.reject(new Error("the line is cut")) });
      return () => void Object.assign(staging, { [call]: real });
    };
    return { store, applied, reverted, logged, facts, transactions, commit, runs, pass, cut };
  };
  onTestFinished(() => expect(clock.ticking, "looks left behind").toBe(0));
  return { held, clock, a: instance("plant-7-a"), b: instance("plant-7-b") };
}

const conflict = (reason: string): unknown => expect.objectContaining({ kind: "conflict", reason });
const storedVersion = async ({ store }: ReturnType<typeof stage>["a"]): Promise<number | undefined> =>
  (await store.load(NEVER))?.version;

type Staged = ReturnType<typeof stage>["a"];

describe("what a commit has left stored and not running, as another hand was first, is told", () => {
  const tried = async ({ commit }: Staged): Promise<void> =>
    expect(await commit({ withinMs: 5 * MINUTE })).toMatchObject({ status: "probation", version: 10 });

  it.each<readonly [until: string, brought: (a: Staged) => Promise<void>]>([
    ["it comes into force as it is followed", async ({ transactions }) => transactions.followed()],
    [
      "another one is committed",
      async ({ commit }) => expect(await commit()).toEqual({ status: "committed", version: 10 }),
    ],
    [
      "one that was tried out over it is confirmed",
      async (a) => {
        await tried(a);
        expect(a.transactions.notApplied()).toMatchObject({ version: 9 });
        await a.transactions.confirm(10);
      },
    ],
    [
      "it comes into force as what was tried out over it is taken back",
      async (a) => {
        await tried(a);
        expect(await a.transactions.revert(10, "no")).toEqual({ status: "rolled_back", version: 9 });
        expect(a.runs()).toEqual([9, "info"]);
      },
    ],
  ])("until %s", async (_, brought) => {
    const { a, held } = stage();
    const { staging } = a.store;
    if (staging === undefined) throw new Error("the memory store stages documents");
    const confirm = staging.confirm.bind(staging);
    staging.confirm = (staged, signal) => {
      held.replace({ ...goodDocument(), config_version: 9 });
      a.facts.strands = true;
      staging.confirm = confirm;
      return confirm(staged, signal);
    };
    expect(await a.commit()).toMatchObject({ status: "committed_not_applied", version: 9 });
    expect(a.transactions.notApplied()).toMatchObject({ version: 9 });
    a.facts.strands = false;
    await brought(a);
    expect(a.transactions.notApplied()).toBeUndefined();
  });
});

describe("a change that reverts itself", () => {
  it("operators 7: runs at once, and stays when it is confirmed", async () => {
    const { a, clock } = stage();
    const confirmBy = clock.now() + 5 * MINUTE;
    expect(await a.commit({ withinMs: 5 * MINUTE })).toEqual({
      status: "probation",
      version: 4,
      formerVersion: 3,
      confirmBy,
    });
    expect(a.runs()).toEqual([4, "debug"]);
    expect(a.transactions.probation()).toMatchObject({ version: 4, formerVersion: 3, confirmBy, actor: "alice" });
    await a.pass(4 * MINUTE);
    await a.transactions.confirm(4);
    await a.pass(10 * MINUTE);
    expect(a.transactions.probation()).toBeUndefined();
    expect(await storedVersion(a)).toBe(4);
    expect(a.runs()).toEqual([4, "debug"]);
    expect(await a.transactions.history(NEVER)).toEqual([
      expect.not.objectContaining({ pending: true, reverted: expect.anything() as unknown }),
    ]);
    await expect(a.transactions.confirm(4)).rejects.toEqual(conflict("no_probation"));
  });

  it("spec 4.9.8: ends when other instances are told that it does", async () => {
    const { a, b } = stage();
    a.facts.swapMs = 600;
    const { confirmBy } = (await a.commit({ withinMs: 10 * SECOND })) as { readonly confirmBy: number };
    expect(await b.store.staging?.look(NEVER)).toMatchObject({ until: confirmBy });
    expect(a.transactions.probation()).toMatchObject({ confirmBy });
    await a.transactions.revert(4, "enough");
  });

  it("operators 7: is taken back when its time is up, and the history, the log and the counts say so", async () => {
    const { a, clock } = stage();
    await a.commit({ withinMs: 10 * SECOND });
    await a.pass(9 * SECOND);
    expect(a.runs()).toEqual([4, "debug"]);
    await a.pass(SECOND);
    expect(a.runs()).toEqual([3, "info"]);
    expect(await storedVersion(a)).toBe(3);
    expect(await a.transactions.history(NEVER)).toMatchObject([
      { version: 4, available: true, actor: "alice", reverted: { at: clock.now(), why: "not_confirmed" } },
    ]);
    expect(a.transactions.reverts()).toMatchObject({ not_confirmed: 1, operator: 0 });
    expect(a.reverted).toMatchObject([{ version: 4, formerVersion: 3, why: "not_confirmed", actor: "alice" }]);
    await expect(a.transactions.confirm(4)).rejects.toEqual(conflict("reverted"));
    expect(await a.commit()).toEqual({ status: "committed", version: 5 });
  });

  it("operators 7: a confirmation that the store does not answer is told to be unknown, and can be asked for again", async () => {
    const { a } = stage();
    await a.commit({ withinMs: MINUTE });
    const mend = a.cut("confirm");
    await expect(a.transactions.confirm(4)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(/version 4 is .* is not known: the line is cut: .* again/) as unknown,
    });
    expect(a.transactions.probation()).toMatchObject({ version: 4 });
    mend();
    await a.transactions.confirm(4);
    expect(a.transactions.probation()).toBeUndefined();
    expect(a.runs()[0]).toBe(4);
  });

  it.each([
    ["by an operator", "it is too loud"],
    ["when its time is up", undefined],
  ])(
    "operators 7: taken back %s, and the store does not answer: the former one runs at once, and nothing is staged any more when it does",
    async (_, reason) => {
      const { a } = stage();
      await a.commit({ withinMs: MINUTE });
      const mend = a.cut("discard");
      const told = {
        kind: "unavailable",
        message: expect.stringMatching(/^version 4 was taken back: .*: the line is cut: see that the store/) as unknown,
      };
      if (reason === undefined) await a.pass(MINUTE);
      await expect(a.transactions.revert(4, reason ?? "once more")).rejects.toMatchObject(told);
      expect(a.runs()[0]).toBe(3);
      expect(a.transactions.withdrawn()).toMatch(/the line is cut/);
      await expect(a.transactions.confirm(4)).rejects.toEqual(conflict("reverted"));
      mend();
      await a.pass(SECOND);
      expect([a.transactions.probation(), a.transactions.withdrawn()]).toEqual([undefined, undefined]);
      expect(a.runs()[0]).toBe(3);
      expect(a.reverted).toMatchObject([{ why: reason === undefined ? "not_confirmed" : "operator" }]);
    },
  );

  it.each([
    ["by an operator", "a"],
    ["at another instance", "b"],
    ["when its time is up", undefined],
  ] as const)(
    "operators 7: taken back %s, and the former one cannot be applied: whoever follows the store is told, as no watch tells it",
    async (_, by) => {
      const { a, b } = stage();
      await a.commit({ withinMs: MINUTE });
      a.facts.strands = true;
      if (by !== undefined) await { a, b }[by].transactions.revert(4, "no");
      expect(await a.store.staging?.look(NEVER)).toEqual(
        by === undefined ? expect.objectContaining({ version: 4 }) : undefined,
      );
      await a.pass(MINUTE);
      expect(a.transactions.probation()).toBeUndefined();
      expect([await storedVersion(a), a.runs()[0], a.facts.notInForce]).toEqual([3, 4, 1]);
      a.facts.strands = false;
      await a.commit({ withinMs: MINUTE });
      await a.transactions.revert(5, "no");
      expect([a.runs()[0], a.facts.notInForce]).toEqual([3, 1]);
    },
  );

  it("operators 7: is kept when it was taken back, to be mended", async () => {
    const { a } = stage();
    await a.commit({ withinMs: MINUTE });
    expect(await a.transactions.revert(4, "it is too loud")).toEqual({ status: "rolled_back", version: 3 });
    expect(await a.transactions.history(NEVER)).toMatchObject([
      { version: 4, reverted: { why: "operator", detail: "it is too loud" } },
    ]);
    expect(a.logged.join()).not.toContain("too loud");
    const { config } = await a.transactions.open(MINUTE, NEVER, 4);
    expect(config).toMatchObject({ bridge: { log_level: "debug" } });
  });

  it("operators 7: its guard takes it back when the level is missed for too long on end, from 10 s after the swap", async () => {
    const { a } = stage();
    await a.commit({ withinMs: 5 * MINUTE, guard: { level: "full", levelForMs: 30 * SECOND } });
    a.facts.full = false;
    await a.pass(9 * SECOND);
    for (let s = 0; s < 30; s++) await a.pass(SECOND);
    a.facts.full = true;
    await a.pass(SECOND);
    a.facts.full = false;
    for (let s = 0; s < 30; s++) await a.pass(SECOND);
    expect(a.transactions.probation()).toBeDefined();
    await a.pass(SECOND);
    expect(a.reverted).toMatchObject([{ why: "level", detail: "below full for 30 s" }]);
    expect(a.runs()).toEqual([3, "info"]);
  });

  it("operators 7: its guard takes it back when too many sends of what it restarted fail, those before not counted", async () => {
    const { a } = stage();
    Object.assign(a.facts, { sends: 1_000, failed: 1_000 });
    await a.commit({ withinMs: 5 * MINUTE, guard: { failureRatio: 0.05, minSends: 50 } });
    Object.assign(a.facts, { sends: 1_049, failed: 1_049 });
    await a.pass(20 * SECOND);
    Object.assign(a.facts, { sends: 1_100, failed: 1_005 });
    await a.pass(SECOND);
    expect(a.transactions.probation()).toBeDefined();
    Object.assign(a.facts, { sends: 1_096, failed: 1_012 });
    await a.pass(SECOND);
    expect(a.reverted).toMatchObject([{ why: "failure_ratio", detail: "12 of 96 sends failed" }]);
  });

  it("operators 7: while it is on probation no transaction opens, at any instance", async () => {
    const { a, b } = stage();
    await a.commit({ withinMs: MINUTE });
    for (const { transactions } of [a, b]) {
      await expect(transactions.open(MINUTE, NEVER)).rejects.toEqual(conflict("probation"));
      await expect(transactions.confirm(5)).rejects.toEqual(conflict("no_probation"));
    }
    await expect(b.transactions.revert(5, "no")).rejects.toEqual(conflict("no_probation"));
    await a.transactions.revert(4, "no");
  });

  it("operators 7: what another hand writes counts, and nothing is put back", async () => {
    const { a, held } = stage();
    await a.commit({ withinMs: MINUTE });
    held.replace({ ...goodDocument(), config_version: 7 });
    await a.pass(SECOND);
    expect(a.transactions.probation()).toBeUndefined();
    expect(await storedVersion(a)).toBe(7);
    expect(a.runs()).toEqual([7, "info"]);
    await a.pass(2 * MINUTE);
    expect(a.reverted).toEqual([]);
    await expect(a.transactions.confirm(4)).rejects.toEqual(conflict("no_probation"));
  });

  it("operators 7: nothing is written when the bridge does not run, and the transaction stays open", async () => {
    const { a } = stage();
    a.facts.running = false;
    await expect(a.commit({ withinMs: MINUTE })).rejects.toEqual(conflict("not_running"));
    expect(await storedVersion(a)).toBe(3);
    expect(a.store.staging?.seen).toBeUndefined();
    expect(a.applied).toEqual([]);
  });

  it("operators 7: the second of two instances never ran a version that was reverted", async () => {
    const { a, b, clock } = stage();
    const told: number[] = [];
    const over = new AbortController();
    await b.store.load(NEVER);
    const watching = (async () => {
      for await (const change of b.store.watch(over.signal))
        if (change.kind === "changed") told.push(change.stored.version);
    })();
    await a.commit({ withinMs: 10 * SECOND });
    expect(await storedVersion(b)).toBe(3);
    await a.pass(10 * SECOND);
    await a.commit({ withinMs: 10 * SECOND });
    await a.transactions.confirm(5);
    await new Promise(setImmediate);
    over.abort();
    await watching;
    expect(told).toEqual([5]);
    expect(clock.ticking).toBe(0);
  });

  it("operators 7: what an instance leaves staged counts as left behind 5 minutes after its end", async () => {
    const { a, b } = stage();
    await a.commit({ withinMs: 30 * MINUTE });
    await b.store.staging?.look(NEVER);
    const { at = 0, until = 0 } = b.store.staging?.seen ?? {};
    expect(until - at).toBe(30 * MINUTE);
    const staging = b.store.staging;
    const stored = await b.store.load(NEVER);
    if (stored === undefined || staging === undefined) throw new Error("there is nothing");
    const stageBefore = (leftBehindBefore: number) =>
      staging.stage({}, stored, { by: "b", at: until, leftBehindBefore }, NEVER);
    expect(await stageBefore(until)).toBeUndefined();
    expect(await stageBefore(until + 1)).toMatchObject({ by: "b" });
    await a.pass(SECOND);
    expect(a.transactions.probation()).toBeUndefined();
  });

  it("operators 7: an orderly end of an instance that shares its document leaves the former one everywhere", async () => {
    const { a, b } = stage();
    await a.commit({ withinMs: MINUTE });
    await a.transactions.suspend();
    expect(await b.store.staging?.look(NEVER)).toBeUndefined();
    expect(a.reverted).toMatchObject([{ why: "process_ended" }]);
  });

  it("operators 7: of a confirmation and the end of its time exactly one wins, 1,000 times", async () => {
    const { a } = stage();
    const won = { confirm: 0, end: 0 };
    for (let round = 0; round < 1_000; round++) {
      const level = round % 2 === 0 ? "debug" : "warn";
      const committed = await a.commit(
        { withinMs: 10 * SECOND },
        { bridge: { log_level: level, drain_timeout: `${round + 1}s` } },
      );
      if (committed.status !== "probation") throw new Error(committed.status);
      const { version, formerVersion } = committed;
      const confirm = async () =>
        a.transactions.confirm(version).then(
          () => "confirmed",
          (error: { reason?: string }) => error.reason,
        );
      const first = round % 3 === 0 ? confirm() : undefined;
      const passed = a.pass(10 * SECOND);
      if (round % 3 === 1) await Promise.resolve();
      const answer = await (first ?? confirm());
      await passed;
      const [stored, [runs]] = [await storedVersion(a), a.runs()];
      if (answer === "confirmed") {
        won.confirm++;
        expect([stored, runs]).toEqual([version, version]);
      } else {
        won.end++;
        expect([answer, stored, runs]).toEqual(["reverted", formerVersion, formerVersion]);
      }
    }
    expect(won.confirm + won.end).toBe(1_000);
    expect(won.confirm).toBeGreaterThan(0);
    expect(won.end).toBeGreaterThan(0);
    expect(a.reverted).toHaveLength(won.end);
  });
});
