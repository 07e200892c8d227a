import { type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type BridgeConfig,
  type CommitResult,
  type ConfigApplier,
  type ConfigTransactions,
  createConfigTransactions,
  OverlayError,
  type ReferenceSources,
  TransactionError,
} from "../../src/index.ts";
import { CANARY, sources } from "../support/arbitrary-documents.ts";
import { beginsAgain } from "../support/change-plans.ts";
import { goodDocument, type Json, withValue } from "../support/documents.ts";
import { MemoryConfigStore } from "../support/memory-config-store.ts";
import { registry } from "../support/plugins.ts";

const NEVER = new AbortController().signal;
const MINUTES = 60_000;

/** What applies configurations, and how. */
class Applier implements ConfigApplier {
  readonly applied: BridgeConfig[] = [];
  answer: (signal: AbortSignal) => Promise<"applied" | "accepted"> = () => Promise.resolve("applied");

  apply(config: BridgeConfig, signal: AbortSignal): Promise<"applied" | "accepted"> {
    this.applied.push(config);
    return this.answer(signal);
  }

  stranding = (): Promise<undefined> => Promise.resolve(undefined);
  announce?: NonNullable<ConfigApplier["announce"]>;
  terminal = false;
  beyondRecovery = (): boolean => this.terminal;

  plan = (config: BridgeConfig): ReturnType<ConfigApplier["plan"]> =>
    Promise.resolve({ ...beginsAgain(config), inPlace: ["bridge.log_level"] });
}

interface Stage {
  readonly store: MemoryConfigStore;
  readonly applier: Applier;
  readonly clock: ManualClock;
  readonly transactions: ConfigTransactions;
  readonly logged: string[];
  /** Opens a transaction and patches it. */
  readonly opened: (overlay?: Json) => Promise<string>;
}

function stage(document: Json | undefined = goodDocument(), applies = true, reads: ReferenceSources = sources): Stage {
  const store = new MemoryConfigStore(document);
  const applier = new Applier();
  const clock = new ManualClock();
  const logged: string[] = [];
  const log = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { ...silentLogger, error: log, warn: log };
  const transactions = createConfigTransactions({
    store,
    registry,
    sources: reads,
    applier: applies ? applier : undefined,
    clock,
    random: systemRandom(),
    logger,
  });
  onTestFinished(() => expect(clock.delays, "timers left behind").toBe(0));
  const opened = async (overlay?: Json): Promise<string> => {
    const { id } = await transactions.open(5 * MINUTES, NEVER);
    if (overlay !== undefined) await transactions.patch(id, overlay, NEVER);
    return id;
  };
  return { store, applier, clock, transactions, logged, opened };
}

function failure(kind: string, text = ""): unknown {
  return expect.objectContaining({ name: "TransactionError", kind, message: expect.stringContaining(text) as unknown });
}

const DEBUG = { bridge: { log_level: "debug" } };

describe("what is read and never answers", () => {
  const never = new Promise<never>(() => {});
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each<[string, (store: MemoryConfigStore) => void]>([
    ["the document", (store) => (store.load = () => never)],
    [
      "what another process has on probation",
      (store) => Object.assign(store, { probations: { elsewhere: () => never } }),
    ],
  ])("is unavailable after 30 s: %s", async (_, hang) => {
    const { store, opened } = stage();
    hang(store);
    const told = opened().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await told).toEqual(failure("unavailable", "not read in 30 s"));
  });

  it("is unavailable after 30 s: a file that the document refers to", async () => {
    const document = { ...goodDocument(), http: { admin_addr: "127.0.0.1:0", admin_api_key: "${file:/a/fifo}" } };
    const { transactions, opened } = stage(document, true, { ...sources, file: () => never });
    const id = await opened();
    const told = transactions.patch(id, DEBUG, NEVER).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await told).toEqual(failure("unavailable", "not read in 30 s"));
  });
});

describe("what is read in 20 s, and twice", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each<[string, (transactions: ConfigTransactions, id: string) => Promise<unknown>]>([
    ["a patch", (transactions, id) => transactions.patch(id, DEBUG, NEVER)],
    ["a validation", (transactions, id) => transactions.validate(id, NEVER)],
    ["a diff", (transactions, id) => transactions.diff(id, NEVER)],
  ])("is unavailable after 30 s in all, and changes nothing: %s", async (_, ask) => {
    const document = { ...goodDocument(), http: { admin_addr: "127.0.0.1:0", admin_api_key: "${file:/a/key}" } };
    const file = () => new Promise<string>((resolve) => setTimeout(resolve, 20_000, "a-key-of-sixteen-characters"));
    const { transactions, opened } = stage(document, true, { ...sources, file });
    const id = await opened();
    let told: unknown = "nothing yet";
    const tell = (answer: unknown): void => void (told = answer);
    void ask(transactions, id).then(tell, tell);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(told).toEqual(failure("unavailable", "not read in 30 s"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await transactions.inspect(id)).toMatchObject({ patchCount: 0 });
  });
});

describe("patches at one time", () => {
  it("both count", async () => {
    const { transactions, opened } = stage();
    const id = await opened();
    const patches = [{ bridge: { log_level: "debug" } }, { bridge: { drain_timeout: "7s" } }];
    await Promise.all(patches.map((overlay) => transactions.patch(id, overlay, NEVER)));
    const { preview, patchCount } = await transactions.inspect(id);
    expect(preview["bridge"]).toMatchObject({ log_level: "debug", drain_timeout: "7s" });
    expect(patchCount).toBe(2);
  });

  it("and one that is not merged yet when the transaction is committed is refused", async () => {
    const { transactions, opened } = stage();
    const id = await opened({ bridge: { log_level: "debug" } });
    const late = transactions.patch(id, { bridge: { drain_timeout: "7s" } }, NEVER);
    const committed = transactions.commit(id, "somebody");
    await expect(late).rejects.toEqual(failure("conflict", "is being committed"));
    expect((await committed).status).toBe("committed");
  });
});

describe("opening, inspecting and ending a transaction", () => {
  it("is opened against what is stored, and shows what it would become", async () => {
    const { transactions, clock } = stage();
    const info = await transactions.open(5 * MINUTES, NEVER);
    expect(info).toMatchObject({ version: 3, createdAt: clock.now(), expiresAt: clock.now() + 5 * MINUTES });
    expect(info.config).toEqual((await transactions.current(NEVER)).config);
    const { preview } = await transactions.patch(info.id, DEBUG, NEVER);
    expect(preview["bridge"]).toMatchObject({ log_level: "debug", drain_timeout: "30s" });
    const { config: _, ...rest } = info;
    expect(await transactions.inspect(info.id)).toEqual({ ...rest, patchCount: 1, preview });
    transactions.rollback(info.id);
    expect(transactions.has(info.id)).toBe(false);
  });

  it("only one is open at a time; a second is told which, and until when", async () => {
    const { transactions, clock, opened } = stage();
    const id = await opened();
    const until = new Date(clock.now() + 5 * MINUTES).toISOString();
    await expect(transactions.open(MINUTES, NEVER)).rejects.toThrow(
      `the transaction ${id} is open until ${until}: commit it or roll it back`,
    );
    transactions.rollback(id);
    const racing = await Promise.allSettled([opened(), opened()]);
    expect(racing.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  it("expires, and is not found then, as one that never was", async () => {
    const { transactions, clock, opened } = stage();
    const id = await opened(DEBUG);
    clock.advance(5 * MINUTES - 1);
    expect((await transactions.inspect(id)).patchCount).toBe(1);
    clock.advance(1);
    await expect(transactions.inspect(id)).rejects.toThrow(
      new TransactionError("not_found", "transaction not found or expired"),
    );
    await expect(transactions.commit(id, "admin")).rejects.toEqual(failure("not_found"));
    await expect(transactions.patch("nothing", DEBUG, NEVER)).rejects.toEqual(failure("not_found"));
    await opened();
  });

  it("needs a configuration that can be read", async () => {
    const { transactions, store, opened } = stage(undefined);
    store.remove();
    await expect(transactions.current(NEVER)).rejects.toEqual(failure("unavailable", "there is no configuration yet"));
    await expect(opened()).rejects.toEqual(failure("unavailable"));
    store.faults.load = () => {
      throw new Error("not YAML: line 3");
    };
    await expect(opened()).rejects.toEqual(
      failure("unavailable", "the configuration cannot be read: not YAML: line 3"),
    );
  });

  it("a patch that is refused changes nothing", async () => {
    const { transactions, opened } = stage();
    const id = await opened(DEBUG);
    const before = await transactions.inspect(id);
    await expect(transactions.patch(id, { x: 1 }, NEVER)).rejects.toBeInstanceOf(OverlayError);
    await expect(
      transactions.patch(id, { bindings: [{ id: "to-out", address: "x".repeat(3_000_000) }] }, NEVER),
    ).rejects.toThrow("more than 2097152 bytes");
    expect(await transactions.inspect(id)).toEqual(before);
  });

  it("a patch tells all problems of what it makes, and another one can mend them", async () => {
    const { transactions, opened } = stage();
    const id = await opened();
    const broken = { bridge: { log_level: "loud" }, routes: [{ id: "alarms", policy: { max_in_flight: 0 } }] };
    const { problems } = await transactions.patch(id, broken, NEVER);
    expect(problems.map(({ path }) => path.join("."))).toEqual(["bridge.log_level", "routes.0.policy.max_in_flight"]);
    const mending = { bridge: { log_level: "warn" }, routes: [{ id: "alarms", policy: { max_in_flight: 1 } }] };
    expect((await transactions.patch(id, mending, NEVER)).problems).toEqual([]);
  });
});

describe("a commit (spec 4.9; contract §2)", () => {
  it("writes the next version, applies it, and ends the transaction", async () => {
    const { store, applier, transactions, opened } = stage();
    const id = await opened(DEBUG);
    expect(await transactions.commit(id, "admin")).toEqual({ status: "committed", version: 4 });
    expect(store.stored?.document).toEqual({ ...withValue("bridge.log_level", "debug"), config_version: 4 });
    expect(applier.applied).toHaveLength(1);
    expect(applier.applied[0]).toMatchObject({ configVersion: 4, bridge: { logLevel: "debug" } });
    expect(transactions.has(id)).toBe(false);
    expect(transactions.notApplied()).toBeUndefined();
  });

  it("without an applier is done when it is written", async () => {
    const { store, transactions, opened } = stage(goodDocument(), false);
    expect(await transactions.commit(await opened(DEBUG), "admin")).toEqual({ status: "committed", version: 4 });
    expect(store.stored?.version).toBe(4);
  });

  it("is counted by what becomes of it, as is every other end of a transaction", async () => {
    const { store, applier, clock, transactions, opened } = stage();
    await transactions.commit(await opened(DEBUG), "admin");
    applier.answer = () => Promise.reject(new Error("the port is taken"));
    await transactions.commit(await opened({ bridge: { log_level: "warn" } }), "admin");
    applier.answer = () => Promise.resolve("accepted");
    await transactions.commit(await opened({ bridge: { log_level: "error" } }), "admin");
    const id = await opened({ bridge: { log_level: "loud" } });
    await transactions.commit(id, "admin");
    await transactions.commit(id, "admin");
    store.byHand(goodDocument());
    await transactions.patch(id, DEBUG, NEVER);
    await transactions.commit(id, "admin");
    transactions.rollback(await opened());
    await opened();
    clock.advance(5 * MINUTES);
    expect(transactions.has("any")).toBe(false);
    expect(transactions.outcomes()).toEqual({
      committed: 1,
      committed_applying: 1,
      probation: 0,
      rolled_back: 1,
      committed_not_applied: 0,
      conflict: 1,
      discarded: 1,
      expired: 1,
      refused: 2,
    });
  });

  it("of nothing leaves the version alone: no patch at all, an echo, or a change that was taken back", async () => {
    const { store, applier, transactions, opened } = stage();
    const nothing = { status: "committed", version: 3 };
    expect(await transactions.commit(await opened(), "admin")).toEqual(nothing);
    const echo = (await transactions.current(NEVER)).config;
    expect(await transactions.commit(await opened(echo), "admin")).toEqual(nothing);
    const id = await opened({ receivers: [{ id: "in", topics: [{ topic: "t" }] }] });
    await transactions.patch(id, { receivers: [{ id: "in", topics: [{ topic: "s/#", qos: 1 }] }] }, NEVER);
    expect(await transactions.commit(id, "admin")).toEqual(nothing);
    expect(applier.applied).toEqual([]);
    expect(store.entries).toEqual([]);
  });

  it("is refused first for options that it would erase, then for what is invalid, then for a conflict; refused, it stays open", async () => {
    const { store, transactions, opened } = stage();
    const id = await opened({ stores: { dlq: { type: "memory" } }, bridge: { log_level: "loud" } });
    store.byHand(withValue("bridge.log_level", "warn"));
    expect(await transactions.commit(id, "admin")).toEqual({
      status: "erases_options",
      erasedOptions: [["stores", "dlq", "options"]],
    });
    await transactions.patch(id, { stores: { dlq: { type: "file" } } }, NEVER);
    expect(await transactions.commit(id, "admin")).toMatchObject({
      status: "invalid",
      problems: [{ path: ["bridge", "log_level"] }],
    });
    await transactions.patch(id, DEBUG, NEVER);
    expect(await transactions.commit(id, "admin")).toMatchObject({ status: "conflict" });
    expect(transactions.has(id)).toBe(false);
    expect(store.stored?.document).toEqual(withValue("bridge.log_level", "warn"));
  });

  it("conflicts with another hand's write, though the version is the same, with a removal and with damage", async () => {
    const { store, applier, transactions, opened } = stage();
    for (const other of [() => store.byHand(goodDocument()), () => store.remove()]) {
      store.byHand(goodDocument());
      const id = await opened(DEBUG);
      other();
      expect(await transactions.commit(id, "admin")).toMatchObject({ status: "conflict" });
    }
    store.byHand(goodDocument());
    const id = await opened(DEBUG);
    store.faults.load = () => {
      throw new Error("not YAML");
    };
    expect(await transactions.commit(id, "admin")).toMatchObject({ status: "conflict" });
    expect(applier.applied).toEqual([]);
  });

  it("conflicts with a write that comes between the check and its own", async () => {
    const { store, transactions, opened } = stage();
    const id = await opened(DEBUG);
    store.faults.append = () => store.byHand(goodDocument());
    expect(await transactions.commit(id, "admin")).toMatchObject({ status: "conflict" });
  });

  it("conflicts with a store that cannot be written to", async () => {
    const { store, transactions, opened } = stage();
    store.readOnly = true;
    const id = await opened(DEBUG);
    expect(await transactions.commit(id, "admin")).toEqual({ status: "conflict", error: "it is read-only" });
    expect(transactions.has(id)).toBe(false);
  });

  it("is committed_applying when the bridge will apply it later", async () => {
    const { store, applier, transactions, opened } = stage();
    applier.answer = () => Promise.resolve("accepted");
    expect(await transactions.commit(await opened(DEBUG), "admin")).toEqual({
      status: "committed_applying",
      version: 4,
    });
    expect(store.stored?.version).toBe(4);
  });

  it("is rolled_back when it cannot be applied: what was stored is stored again, under its version", async () => {
    const { store, applier, transactions, opened } = stage();
    const before = store.stored;
    applier.answer = () => Promise.reject(new Error("the port is taken"));
    expect(await transactions.commit(await opened(DEBUG), "admin")).toEqual({
      status: "rolled_back",
      version: 3,
      error: "the configuration could not be applied: the port is taken",
    });
    expect(store.stored).toEqual(before);
    expect(transactions.notApplied()).toBeUndefined();
  });

  it("is announced before it is written, and that is withdrawn once it is stored no more, or was never", async () => {
    const { store, applier, transactions, opened } = stage();
    const seen: unknown[] = [];
    applier.announce = async ({ bridge }) => {
      seen.push(bridge.logLevel, store.stored?.version);
      return async () => void seen.push("withdrawn", store.stored?.version);
    };
    await transactions.commit(await opened(DEBUG), "admin");
    expect(seen.splice(0)).toEqual(["debug", 3]);
    expect(applier.applied.at(-1)?.stored).toBe(store.stored);
    applier.answer = () => Promise.reject(new Error("the port is taken"));
    await transactions.commit(await opened({ bridge: { log_level: "warn" } }), "admin");
    expect(seen.splice(0)).toEqual(["warn", 4, "withdrawn", 4]);
    store.readOnly = true;
    await transactions.commit(await opened({ bridge: { log_level: "warn" } }), "admin");
    expect(seen.splice(0)).toEqual(["warn", 4, "withdrawn", 4]);
  });

  it("is not written when what it leaves cannot be remembered", async () => {
    const { store, applier, transactions, opened } = stage();
    applier.announce = () => Promise.reject(new Error("the disk is full"));
    expect(await transactions.commit(await opened(DEBUG), "admin")).toMatchObject({
      status: "committed_not_applied",
      version: 3,
      error: expect.stringContaining("the disk is full") as unknown,
    });
    expect(store.stored?.version).toBe(3);
    expect(applier.applied).toEqual([]);
  });

  it("is rolled_back and says that nothing runs, when what is stored again cannot be run either", async () => {
    const { store, applier, transactions, opened } = stage();
    const before = store.stored;
    applier.answer = () => {
      applier.terminal = true;
      return Promise.reject(new Error("neither can be opened"));
    };
    expect(await transactions.commit(await opened(DEBUG), "admin")).toEqual({
      status: "rolled_back",
      version: 3,
      error:
        "the configuration could not be applied: neither can be opened; nothing runs here any more: the next process runs it",
    });
    expect(store.stored).toEqual(before);
  });

  it("is rolled_back when it takes longer than 60 s, whatever the applier does about it", async () => {
    const { store, applier, clock, transactions, opened, logged } = stage();
    const late = Promise.withResolvers<"applied">();
    let told: AbortSignal | undefined;
    applier.answer = (signal) => {
      told = signal;
      return late.promise;
    };
    const committing = transactions.commit(await opened(DEBUG), "admin");
    await expect.poll(() => clock.delays).toBe(1);
    clock.advance(59_999);
    expect(told?.aborted).toBe(false);
    clock.advance(1);
    expect(await committing).toEqual({
      status: "rolled_back",
      version: 3,
      error: "the configuration could not be applied: it was not applied within 60 s",
    });
    expect(told?.aborted).toBe(true);
    expect(store.stored?.version).toBe(3);
    late.resolve("applied");
    await expect.poll(() => logged).toEqual([expect.stringContaining("applied after it had been given up")]);
  });

  it("is committed_not_applied when it can neither be applied nor taken back, and says so until another one is applied", async () => {
    const { store, applier, transactions, opened, logged } = stage();
    applier.answer = () => Promise.reject(new Error("no"));
    store.faults.restore = () => {
      throw new Error("the disk is gone");
    };
    const result = await transactions.commit(await opened(DEBUG), "admin");
    expect(result).toEqual({
      status: "committed_not_applied",
      version: 4,
      error:
        "the configuration could not be applied: no; the former one could not be put back: the disk is gone; version 4 is stored and does not run",
    });
    expect(store.stored?.version).toBe(4);
    expect(transactions.notApplied()).toMatchObject({ version: 4 });
    expect(logged[0]).toContain("a configuration is stored that does not run");
    applier.answer = () => Promise.resolve("applied");
    const next = await opened({ bridge: { log_level: "warn" } });
    expect(await transactions.commit(next, "admin")).toEqual({ status: "committed", version: 5 });
    expect(transactions.notApplied()).toBeUndefined();
  });

  it("does not take back what another hand has written since", async () => {
    const { store, applier, transactions, opened } = stage();
    applier.answer = () => {
      store.byHand(withValue("config_version", 9));
      return Promise.reject(new Error("no"));
    };
    expect(await transactions.commit(await opened(DEBUG), "admin")).toMatchObject({
      status: "committed_not_applied",
      version: 9,
      error: expect.stringContaining("another hand has written since") as string,
    });
    expect(store.stored?.version).toBe(9);
  });

  it("is committed_not_applied with the version that is stored when the write fails, done or not", async () => {
    const { store, applier, transactions, opened } = stage();
    store.faults.write = () => {
      throw new Error("no space left");
    };
    expect(await transactions.commit(await opened(DEBUG), "admin")).toEqual({
      status: "committed_not_applied",
      version: 3,
      error: "the configuration could not be written: no space left; nothing has changed: version 3 is stored and runs",
    });
    expect(transactions.notApplied()).toBeUndefined();
    delete store.faults.write;
    store.afterWrite = () => {
      throw new Error("fsync failed");
    };
    expect(await transactions.commit(await opened(DEBUG), "admin")).toMatchObject({
      status: "committed_not_applied",
      version: 4,
      error: "the configuration could not be written: fsync failed; version 4 is stored and does not run",
    });
    expect(transactions.notApplied()).toMatchObject({ version: 4 });
    expect(applier.applied).toEqual([]);
  });

  it("cannot be disturbed while it is on its way, nor does it expire then", async () => {
    const { applier, clock, transactions, opened } = stage();
    const applying = Promise.withResolvers<"applied">();
    applier.answer = () => applying.promise;
    const { id } = await transactions.open(1_000, NEVER);
    await transactions.patch(id, DEBUG, NEVER);
    const committing = transactions.commit(id, "admin");
    await expect.poll(() => applier.applied.length).toBe(1);
    const busy = failure("conflict", "the transaction is being committed");
    clock.advance(59_000);
    await expect(transactions.commit(id, "admin")).rejects.toEqual(busy);
    await expect(transactions.patch(id, {}, NEVER)).rejects.toEqual(busy);
    await expect(transactions.validate(id, NEVER)).rejects.toEqual(busy);
    expect(() => transactions.rollback(id)).toThrow("the transaction is being committed");
    await expect(opened()).rejects.toEqual(failure("conflict", `the transaction ${id} is open until`));
    expect((await transactions.inspect(id)).patchCount).toBe(1);
    applying.resolve("applied");
    expect(await committing).toMatchObject({ status: "committed" });
  });

  it("shows no secret in what it says, however the error came to it", async () => {
    const { store, applier, transactions, opened, logged } = stage(
      withValue("sessions.0.options.password", `${CANARY}-password`),
    );
    applier.answer = () => Promise.reject(new Error(`cannot log in with ${CANARY}-password`));
    store.faults.restore = () => {
      throw new Error(`https://me:${CANARY}@example.com`);
    };
    const result = await transactions.commit(await opened(DEBUG), "admin");
    expect(result).toMatchObject({
      error: expect.stringContaining(
        "could not be applied: the error quotes a secret, or a value that came in",
      ) as string,
    });
    expect(JSON.stringify([result, logged])).not.toContain(CANARY);
  });
});

describe("a dry run", () => {
  it("tells what would be restarted, and what would change", async () => {
    const { transactions, opened } = stage();
    expect(await transactions.validate(await opened(DEBUG), NEVER)).toEqual({
      erasedOptions: [],
      problems: [],
      warnings: [],
      conflict: false,
      changes: [{ path: "bridge.log_level", before: "info", after: "debug" }],
      plan: expect.objectContaining({ inPlace: ["bridge.log_level"] }) as unknown,
    });
  });

  it("tells everything that a commit would be refused for, and changes nothing", async () => {
    const { store, applier, transactions, opened } = stage();
    const id = await opened({ stores: { dlq: { type: "memory" } }, bridge: { log_level: "loud" } });
    const before = await transactions.inspect(id);
    store.byHand(goodDocument());
    const run = await transactions.validate(id, NEVER);
    expect(run).toMatchObject({ erasedOptions: [["stores", "dlq", "options"]], conflict: true });
    expect(run.problems.map(({ path }) => path.join("."))).toContain("bridge.log_level");
    expect(run.plan).toBeUndefined();
    expect(await transactions.inspect(id)).toEqual(before);
    expect(applier.applied).toEqual([]);
  });

  it("has no plan when nothing applies configurations", async () => {
    const { transactions, opened } = stage(goodDocument(), false);
    expect(await transactions.validate(await opened(DEBUG), NEVER)).not.toHaveProperty("plan");
  });
});

describe("the history", () => {
  const versions = async ({ transactions }: Stage): Promise<unknown> =>
    (await transactions.history(NEVER))?.map(({ version, pending }) => [version, pending]);

  it("has who changed what and when, the newest first", async () => {
    const on = stage();
    await on.transactions.commit(await on.opened(DEBUG), "alice");
    on.clock.advance(MINUTES);
    await on.transactions.commit(await on.opened({ bridge: { log_level: "warn" } }), "bob");
    const log_level = (before: string, after: string): object => ({ path: "bridge.log_level", before, after });
    expect(await on.transactions.history(NEVER)).toEqual([
      { version: 5, available: true, committedAt: on.clock.now(), actor: "bob", changes: [log_level("debug", "warn")] },
      {
        version: 4,
        available: false,
        committedAt: on.clock.now() - MINUTES,
        actor: "alice",
        changes: [log_level("info", "debug")],
      },
    ]);
  });

  it("has each version once, also after an older document was put back by hand", async () => {
    const on = stage();
    for (const log_level of ["debug", "warn"])
      await on.transactions.commit(await on.opened({ bridge: { log_level } }), "alice");
    on.store.byHand({ ...goodDocument(), config_version: 2 });
    const result = await on.transactions.commit(await on.opened(DEBUG), "bob");
    expect(result).toEqual({ status: "committed", version: 6 });
    expect(on.applier.applied.at(-1)?.configVersion).toBe(6);
    expect(await versions(on)).toEqual([
      [6, undefined],
      [5, undefined],
      [4, undefined],
    ]);
  });

  it("gives no version again that a killed commit has begun, also after the former document was put back", async () => {
    const on = stage();
    on.store.entries.unshift({ version: 4, committedAt: 0, actor: "alice", changes: [], pending: true });
    expect(await on.transactions.commit(await on.opened(DEBUG), "bob")).toEqual({ status: "committed", version: 5 });
    expect(await versions(on)).toEqual([[5, undefined]]);
  });

  it("that cannot be read is unavailable, and says why", async () => {
    const on = stage();
    on.store.history.list = () => Promise.reject(new Error("h.jsonl: it is not a regular file"));
    await expect(on.transactions.history(NEVER)).rejects.toMatchObject({
      kind: "unavailable",
      message: "the history cannot be read: h.jsonl: it is not a regular file",
    });
  });

  it("has nothing of what was rolled back or refused", async () => {
    const on = stage();
    on.applier.answer = () => Promise.reject(new Error("no"));
    await on.transactions.commit(await on.opened(DEBUG), "alice");
    expect(await versions(on)).toEqual([]);
    on.applier.answer = () => Promise.resolve("applied");
    await on.transactions.commit(await on.opened(DEBUG), "alice");
    expect(await versions(on)).toEqual([[4, undefined]]);
    expect(on.store.entries).toHaveLength(1);
  });

  it("marks what is stored and never ran, until it is written over", async () => {
    const on = stage();
    on.applier.answer = () => Promise.reject(new Error("no"));
    on.store.faults.restore = () => {
      throw new Error("no");
    };
    await on.transactions.commit(await on.opened(DEBUG), "alice");
    expect(await versions(on)).toEqual([[4, true]]);
    on.applier.answer = () => Promise.resolve("applied");
    await on.transactions.commit(await on.opened({ bridge: { log_level: "warn" } }), "bob");
    expect(await versions(on)).toEqual([
      [5, undefined],
      [4, undefined],
    ]);
  });

  it("shows nothing of a commit that is on its way", async () => {
    const on = stage();
    const applying = Promise.withResolvers<"applied">();
    on.applier.answer = () => applying.promise;
    const committing = on.transactions.commit(await on.opened(DEBUG), "alice");
    await expect.poll(() => on.applier.applied.length).toBe(1);
    expect(on.store.entries[0]?.pending).toBe(true);
    expect(await versions(on)).toEqual([]);
    applying.resolve("applied");
    await committing;
    expect(await versions(on)).toEqual([[4, undefined]]);
  });

  it("that cannot be kept fails no commit", async () => {
    const on = stage();
    on.store.faults.append = () => {
      throw new Error("no space left");
    };
    const result: CommitResult = await on.transactions.commit(await on.opened(DEBUG), "alice");
    expect(result.status).toBe("committed");
    expect(on.logged[0]).toContain("no space left");
  });
});
