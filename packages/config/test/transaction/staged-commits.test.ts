import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { type ConfigStaging, type ConfigStore, type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it } from "vitest";
import {
  type BridgeConfig,
  type CommitResult,
  type ConfigApplier,
  type ConfigTransactions,
  createConfigTransactions,
  OverlayError,
} from "../../src/index.ts";
import { sources } from "../support/arbitrary-documents.ts";
import { goodDocument } from "../support/documents.ts";
import { registry } from "../support/plugins.ts";

const NEVER = new AbortController().signal;
const MINUTES = 60_000;
const DEBUG = { bridge: { log_level: "debug" } };

function withLevel(level: string) {
  const document = goodDocument();
  return { ...document, bridge: { ...(document["bridge"] as object), log_level: level } };
}

/** Two instances on one document; what each of them runs is the last of `applied`. */
function stage() {
  const held = new MemoryDocument(withLevel("info"));
  const clock = new ManualClock();
  const instance = (instanceId: string, options: { maxDocumentBytes?: number } = {}) => {
    const store = Object.assign(openMemoryConfig(held), options);
    const applied: BridgeConfig[] = [];
    const logged: string[] = [];
    const faults: { terminal?: boolean; apply?: (config: BridgeConfig) => Promise<"applied" | "accepted"> } = {};
    const log = (message: string): void => void logged.push(message);
    const logger: Logger = { ...silentLogger, error: log, warn: log };
    const applier: ConfigApplier = {
      async apply(config) {
        const outcome = (await faults.apply?.(config)) ?? "applied";
        applied.push(config);
        return outcome;
      },
      stranding: () => Promise.resolve(undefined),
      beyondRecovery: () => faults.terminal === true,
      plan: () => {
        throw new Error("nobody asks for a plan here");
      },
    };
    const random = systemRandom();
    const transactions = createConfigTransactions({
      store,
      registry,
      sources,
      applier,
      instanceId,
      clock,
      random,
      logger,
    });
    return { store, applied, logged, faults, transactions };
  };
  return { held, clock, instance, a: instance("plant-7-a"), b: instance("plant-7-b") };
}

async function commit(transactions: ConfigTransactions, overlay: Readonly<Record<string, unknown>> = DEBUG) {
  const { id } = await transactions.open(5 * MINUTES, NEVER);
  await transactions.patch(id, overlay, NEVER);
  return transactions.commit(id, "alice");
}

function stagingOf(store: ConfigStore): ConfigStaging {
  if (store.staging === undefined) throw new Error("the store has no staging");
  return store.staging;
}

/** What others see of the store while `work` goes on. */
async function levelOf(store: ConfigStore): Promise<unknown> {
  const stored = await store.load(NEVER);
  return (stored?.document["bridge"] as { log_level?: unknown } | undefined)?.log_level;
}

describe("a commit to a document that instances share", () => {
  it("is applied by its committer before any other instance can load it", async () => {
    const { a, b } = stage();
    a.faults.apply = async () => {
      expect(await levelOf(b.store)).toBe("info");
      expect(await stagingOf(b.store).look(NEVER)).toMatchObject({ version: 4, by: "plant-7-a" });
      return "applied";
    };
    expect(await commit(a.transactions)).toEqual({ status: "committed", version: 4 });
    expect(await levelOf(b.store)).toBe("debug");
    expect(await stagingOf(b.store).look(NEVER)).toBeUndefined();
    expect(await b.transactions.history(NEVER)).toMatchObject([{ version: 4, actor: "alice" }]);
  });

  it("is confirmed, too, when it was accepted for later: nothing will undo it", async () => {
    const { a, b } = stage();
    a.faults.apply = async () => "accepted";
    expect(await commit(a.transactions)).toEqual({ status: "committed_applying", version: 4 });
    expect(await levelOf(b.store)).toBe("debug");
  });

  it("is never stored when it cannot be applied", async () => {
    const { a, b, held } = stage();
    const before = held.state;
    a.faults.apply = async () => Promise.reject(new Error("the port is taken"));
    expect(await commit(a.transactions)).toEqual({
      status: "rolled_back",
      version: 3,
      error: "the configuration could not be applied: the port is taken",
    });
    expect(held.state).toBe(before);
    expect(await stagingOf(b.store).look(NEVER)).toBeUndefined();
    expect(await b.transactions.history(NEVER)).toEqual([]);
    expect(await commit(b.transactions)).toEqual({ status: "committed", version: 4 });
  });

  it("says so when nothing runs here any more, and is never stored", async () => {
    const { a, b, held } = stage();
    const before = held.state;
    a.faults.apply = async () => {
      a.faults.terminal = true;
      throw new Error("neither can be opened");
    };
    expect(await commit(a.transactions)).toMatchObject({
      status: "rolled_back",
      version: 3,
      error: expect.stringContaining("nothing runs here any more") as unknown,
    });
    expect(held.state).toBe(before);
    expect(await commit(b.transactions)).toEqual({ status: "committed", version: 4 });
  });

  it("has rolled back, though what is staged cannot be taken away: nobody takes it", async () => {
    const { a, b } = stage();
    a.faults.apply = async () => Promise.reject(new Error("the port is taken"));
    stagingOf(a.store).discard = async () => Promise.reject(new Error("no answer"));
    expect(await commit(a.transactions)).toMatchObject({ status: "rolled_back", version: 3 });
    expect(a.logged).toContain("a configuration that could not be applied is still staged");
    expect(await levelOf(b.store)).toBe("info");
  });

  it("keeps other instances from committing meanwhile, who learn whose it is", async () => {
    const { a, b } = stage();
    const opened = await b.transactions.open(5 * MINUTES, NEVER);
    await b.transactions.patch(opened.id, { bridge: { log_level: "warn" } }, NEVER);
    const theirs: unknown[] = [];
    a.faults.apply = async () => {
      theirs.push(await b.transactions.commit(opened.id, "bob"));
      await expect(b.transactions.open(5 * MINUTES, NEVER)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringContaining(
          "the instance plant-7-a has been committing version 4 since 2026-01-01T",
        ) as unknown,
      });
      return "applied";
    };
    expect(await commit(a.transactions)).toMatchObject({ status: "committed" });
    expect(theirs).toEqual([
      {
        status: "conflict",
        error: expect.stringContaining("the instance plant-7-a has been committing version 4") as unknown,
      },
    ]);
    expect(b.applied).toEqual([]);
  });

  it("loses against a commit that was done since its transaction was opened", async () => {
    const { a, b } = stage();
    const opened = await b.transactions.open(5 * MINUTES, NEVER);
    await b.transactions.patch(opened.id, { bridge: { log_level: "warn" } }, NEVER);
    await commit(a.transactions);
    expect(await b.transactions.commit(opened.id, "bob")).toMatchObject({ status: "conflict" });
  });

  it("may follow what a crash has left behind, after five minutes", async () => {
    const { a, b, clock } = stage();
    a.faults.apply = () => Promise.withResolvers<"applied">().promise;
    void commit(a.transactions);
    await expect.poll(() => stagingOf(b.store).look(NEVER)).toBeDefined();
    await expect(b.transactions.open(MINUTES, NEVER)).rejects.toThrow("after 5 minutes it counts as left behind");
    expect(await b.transactions.history(NEVER)).toMatchObject([{ version: 4, actor: "alice", pending: true }]);
    clock.advance(5 * MINUTES + 1);
    expect(await commit(b.transactions, { bridge: { log_level: "warn" } })).toEqual({
      status: "committed",
      version: 4,
    });
    expect(await levelOf(a.store)).toBe("warn");
    expect(await b.transactions.history(NEVER)).toMatchObject([{ version: 4, actor: "alice" }]);
  });

  it("is given up by a committer that was overtaken: it runs again what is stored", async () => {
    const { a, b, clock } = stage();
    const own = { ...stagingOf(a.store) };
    stagingOf(a.store).confirm = async (staged, signal) => {
      clock.advance(5 * MINUTES + 1);
      expect(await commit(b.transactions, { bridge: { log_level: "warn" } })).toMatchObject({ status: "committed" });
      return own.confirm(staged, signal);
    };
    expect(await commit(a.transactions)).toEqual({
      status: "conflict",
      error: "another hand has written since version 3; version 4 is stored and runs",
    });
    expect(a.applied.map(({ bridge }) => bridge.logLevel)).toEqual(["debug", "warn"]);
    expect(a.applied.at(-1)?.configVersion).toBe(4);
  });

  it("is in the history once, and so is the next one, when it is written down as confirmed after that has begun", async () => {
    const { a, b } = stage();
    const { history } = a.store;
    if (history === undefined) throw new Error("the model has one");
    const append = history.append.bind(history);
    const late = Promise.withResolvers<void>();
    history.append = async (entry, signal) => {
      if (entry.pending === undefined) await late.promise;
      return append(entry, signal);
    };
    const first = commit(a.transactions);
    await expect.poll(async () => (await b.store.load(NEVER))?.version).toBe(4);
    let meanwhile: readonly unknown[] | undefined;
    b.faults.apply = async () => {
      late.resolve();
      await first;
      meanwhile = await b.store.history?.list(NEVER);
      return "applied";
    };
    expect(await commit(b.transactions, { bridge: { log_level: "warn" } })).toMatchObject({ status: "committed" });
    expect(meanwhile).toMatchObject([{ version: 5, pending: true }, { version: 4 }]);
    expect(await b.store.history?.list(NEVER)).toMatchObject([{ version: 5 }, { version: 4 }]);
  });

  it("is given up when somebody has written another document by hand", async () => {
    const { a, held } = stage();
    a.faults.apply = async () => {
      delete a.faults.apply;
      held.replace({ ...goodDocument(), config_version: 9 });
      return "applied";
    };
    expect(await commit(a.transactions)).toMatchObject({ status: "conflict" });
    expect(a.applied.map(({ configVersion }) => configVersion)).toEqual([4, 9]);
  });

  it("says what runs when it was overtaken and what is stored cannot be applied", async () => {
    const { a, held } = stage();
    a.faults.apply = async () => {
      held.replace({ nonsense: true });
      return "applied";
    };
    const result = await commit(a.transactions);
    expect(result).toMatchObject({ status: "committed_not_applied", version: 0 });
    expect((result as { error: string }).error).toContain(
      "version 4 runs here, and version 0, which is stored, cannot be applied",
    );
    expect(a.transactions.notApplied()).toMatchObject({ version: 0 });
  });

  it("that was confirmed, but not heard of, is committed", async () => {
    const { a } = stage();
    const own = { ...stagingOf(a.store) };
    stagingOf(a.store).confirm = async (staged, signal) => {
      await own.confirm(staged, signal);
      throw new Error("the answer was lost");
    };
    expect(await commit(a.transactions)).toEqual({ status: "committed", version: 4 });
  });

  it("of which nobody can say whether it was confirmed is undone here, until the store tells", async () => {
    const { a, b } = stage();
    const own = { ...stagingOf(a.store) };
    let late = (): Promise<boolean> => Promise.reject(new Error("nothing was staged"));
    stagingOf(a.store).confirm = async (staged) => {
      late = () => own.confirm(staged, NEVER);
      throw new Error("no answer");
    };
    const result: CommitResult = await commit(a.transactions);
    expect(result).toMatchObject({ status: "committed_not_applied", version: 3 });
    expect((result as { error: string }).error).toBe(
      "version 4 could not be confirmed, and may still come into force: no answer; version 3 is stored and runs",
    );
    expect(a.applied.map(({ configVersion }) => configVersion)).toEqual([4, 3]);
    expect(a.transactions.notApplied()).toBeUndefined();
    await late();
    expect(await levelOf(b.store)).toBe("debug");
  });

  it("that could not be staged changes nothing, and leaves nothing in the way", async () => {
    const { a, b } = stage();
    const own = { ...stagingOf(a.store) };
    stagingOf(a.store).stage = async (...request) => {
      await own.stage(...request);
      throw new Error("the answer was lost");
    };
    expect(await commit(a.transactions)).toEqual({
      status: "committed_not_applied",
      version: 3,
      error:
        "the configuration could not be written: the answer was lost; nothing has changed: version 3 is stored and runs",
    });
    expect(a.applied).toEqual([]);
    expect(await commit(b.transactions)).toMatchObject({ status: "committed" });
  });

  it("is waited for by whoever else applies configurations", async () => {
    const { a } = stage();
    const gate = Promise.withResolvers<"applied">();
    a.faults.apply = () => gate.promise;
    expect(a.transactions.underWay).toBeUndefined();
    const committing = commit(a.transactions);
    await expect.poll(() => a.transactions.underWay !== undefined).toBe(true);
    const { underWay } = a.transactions;
    gate.resolve("applied");
    await Promise.all([underWay, committing]);
    expect(a.transactions.underWay).toBeUndefined();
  });

  it("whose history was not written is an ordinary entry all the same", async () => {
    const { a, b } = stage();
    const { history } = a.store;
    if (history === undefined) throw new Error("the model keeps a history");
    const own = { ...history };
    history.append = async (entry, signal) => {
      if (entry.pending !== true) throw new Error("the process ends here");
      await own.append(entry, signal);
    };
    expect(await commit(a.transactions)).toMatchObject({ status: "committed" });
    const [entry] = (await b.transactions.history(NEVER)) ?? [];
    expect(entry).toMatchObject({ version: 4, actor: "alice" });
    expect(entry?.pending).toBeUndefined();
  });

  it("is refused as a patch when it is more than the store keeps", async () => {
    const { instance } = stage();
    const { transactions } = instance("plant-7-c", { maxDocumentBytes: 10 });
    const { id } = await transactions.open(MINUTES, NEVER);
    await expect(transactions.patch(id, DEBUG, NEVER)).rejects.toEqual(
      new OverlayError([{ path: [], message: "the configuration would have more than 10 bytes" }]),
    );
  });
});

describe("a clustered bridge whose document instances do not share", () => {
  it("refuses transactions, whether the mode is written down or comes by a reference", async () => {
    for (const mode of ["clustered", "${env:MODE}"]) {
      const document = goodDocument();
      const held = new MemoryDocument({
        ...document,
        bridge: { ...(document["bridge"] as object), deployment_mode: mode },
      });
      const store: ConfigStore = Object.defineProperty(openMemoryConfig(held), "staging", { value: undefined });
      const transactions = createConfigTransactions({
        store,
        registry,
        sources: { ...sources, env: (name) => (name === "MODE" ? "clustered" : sources.env(name)) },
        clock: new ManualClock(),
        random: systemRandom(),
        logger: silentLogger,
      });
      await expect(transactions.open(MINUTES, NEVER)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringContaining("a commit to memory would reach this instance only") as unknown,
      });
      await transactions.current(NEVER);
    }
  });
});
