import {
  BridgeError,
  type DeadLetter,
  type DlqAdmin,
  type DlqStore,
  RESERVED,
  silentLogger,
  systemClock,
} from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { redrive, type RedriveOptions, type RedriveTarget } from "../../src/dlq/redrive.ts";
import { OperationError } from "../../src/operation-error.ts";
import type { InjectResult } from "../../src/route/inject-result.ts";
import { envelopeOf } from "../support/envelope.ts";
import { turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const DELIVERED: InjectResult = { envelopeId: "new", outcome: "delivered", failedBindings: [] };
/** Entries of one redrive that are under way at once. */
const AT_ONCE = 16;

type Store = DlqStore & { readonly admin: DlqAdmin };
type Replay = NonNullable<RedriveTarget["replay"]>;

async function storeOf(ids: readonly string[], changes: Partial<DeadLetter> = {}): Promise<Store> {
  const store = openMemoryDlq({ maxEntries: 1_000 });
  for (const id of ids) {
    await store.put(
      {
        id,
        routeId: "r",
        bindingId: "out",
        sourceId: "in",
        correlationId: "c",
        subject: id,
        reason: "refused",
        category: "rejected",
        errorCode: "REJECTED",
        lastError: "no",
        failedAt: 1,
        attempts: 1,
        envelope: envelopeOf({ id: `original-${id}` }),
        ...changes,
      },
      bound(),
    );
  }
  return store;
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `e${at}`);

function run(
  store: Store,
  ids: readonly string[],
  replay: Replay,
  options: Partial<Pick<RedriveOptions, "busy" | "delivered" | "signal" | "replayTimeoutMs" | "mayBegin">> = {},
) {
  return redrive({
    ids,
    store,
    target: { replay },
    busy: new Set(),
    delivered: new DeliveredEntries(),
    clock: systemClock,
    logger: silentLogger,
    signal: bound(),
    mayBegin: () => true,
    ...options,
  });
}

const left = async (store: Store): Promise<number> =>
  (await store.list({}, { limit: 1_000, offset: 0 }, bound())).length;

describe("spec 4.6: what goes wrong with one entry is told of that entry", () => {
  test("a store that cannot be read: the others are redriven, however many there are", async () => {
    const ids = idsOf(60);
    const store = await storeOf(ids, { bindingId: "", envelope: envelopeOf({ id: "" }) });
    const busy = new Set<string>();
    const broken: Store = {
      ...store,
      get: (id, signal) =>
        Number(id.slice(1)) < 40 ? Promise.reject(new BridgeError("UNAVAILABLE", "disk gone")) : store.get(id, signal),
    };
    const result = await run(broken, ids, async () => DELIVERED, { busy });
    expect(result.warning).toBeUndefined();
    expect(result).toMatchObject({ redriven: 20, failed: 40 });
    expect(new Set(result.errors.map(({ error }) => error))).toEqual(new Set(["the DLQ store failed: disk gone"]));
    expect([busy.size, await left(store)]).toEqual([0, 40]);
  });

  test.each([
    ["the inject failed: no room", (): Error => new BridgeError("UNAVAILABLE", "no room")],
    ["redrive still pending in the outbox", () => new OperationError("pending", "it takes long")],
    ["route or binding not found", () => new OperationError("not_found", "who?")],
    ["runtime not available", () => new OperationError("unavailable", "runtime not available")],
    ["the route has ended", () => new OperationError("failed", "the route has ended")],
  ])("an inject that fails: %s", async (error, thrown) => {
    const store = await storeOf(["e0"]);
    const result = await run(store, ["e0"], async () => {
      throw thrown();
    });
    expect(result.errors).toEqual([{ id: "e0", error }]);
    expect(await left(store)).toBe(1);
  });

  test.each([
    ["what it cuts off is of unknown outcome", "outcome unknown", "failed"],
    ["what is refused says why", "runtime not available", "unavailable"],
  ] as const)("an inject that fails once a stop has begun: %s", async (_, error, kind) => {
    const stop = { begun: false };
    const replay = () => {
      stop.begun = true;
      return Promise.reject(new OperationError(kind, "runtime not available"));
    };
    const result = await run(await storeOf(["e0"]), ["e0"], replay, { mayBegin: () => !stop.begun });
    expect(result.errors).toEqual([{ id: "e0", error }]);
  });

  test("a message that was not delivered, with why if that is known", async () => {
    const store = await storeOf(["e0", "e1"]);
    const result = await run(store, ["e0", "e1"], async ({ id }) => ({
      ...DELIVERED,
      outcome: "dropped",
      ...(id === "e1" && { error: new BridgeError("REJECTED", "no thanks") }),
    }));
    expect(result.errors.map(({ error }) => error)).toEqual([
      "not delivered, dropped",
      "not delivered, dropped: no thanks",
    ]);
    expect(await left(store)).toBe(2);
  });

  test("a replay that takes too long is of unknown outcome, and its entry is kept", async () => {
    const store = await storeOf(["e0"]);
    const result = await run(
      store,
      ["e0"],
      (_, signal) =>
        new Promise((__, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
      { replayTimeoutMs: 10 },
    );
    expect(result.errors).toEqual([{ id: "e0", error: "outcome unknown" }]);
    expect(await left(store)).toBe(1);
  });

  test("an entry that is gone when it is deleted is an error, unless its delivery may have taken it along", async () => {
    for (const entryMayBeGone of [false, true]) {
      const store = await storeOf(["e0"]);
      const result = await run(store, ["e0"], async ({ id }) => {
        await store.admin.delete([id], bound());
        return { ...DELIVERED, entryMayBeGone };
      });
      const gone = { id: "e0", error: "entry already redriven or concurrently deleted" };
      expect(result.errors).toEqual(entryMayBeGone ? [] : [gone]);
    }
  });
});

describe("an entry that was delivered and not deleted", () => {
  async function undeleted(replay: Replay) {
    const delivered = new DeliveredEntries();
    const store = await storeOf(["e0"]);
    const silent: Store = {
      ...store,
      admin: { ...store.admin, delete: () => Promise.reject(new BridgeError("TIMEOUT", "no answer")) },
    };
    const first = await run(silent, ["e0"], replay, { delivered });
    expect(first.errors).toEqual([{ id: "e0", error: "delivered, entry not deleted" }]);
    return { store, silent, delivered };
  }

  test("is deleted by the next redrive of the process, which sends nothing; that counts as redriven", async () => {
    let sent = 0;
    const replay = async () => (sent++, DELIVERED);
    const { store, silent, delivered } = await undeleted(replay);
    const again = await run(silent, ["e0"], replay, { delivered });
    expect(again.errors).toEqual([{ id: "e0", error: "delivered, entry not deleted" }]);
    expect(await run(store, ["e0"], replay, { delivered })).toMatchObject({ redriven: 1, failed: 0 });
    expect([sent, await left(store)]).toEqual([1, 0]);
  });

  test("is sent when the message has failed again since, and is another entry under the same id", async () => {
    let sent = 0;
    const replay = async () => (sent++, DELIVERED);
    const { delivered } = await undeleted(replay);
    const store = await storeOf(["e0"], { failedAt: 2 });
    expect(await run(store, ["e0"], replay, { delivered })).toMatchObject({ redriven: 1 });
    expect([sent, await left(store)]).toEqual([2, 0]);
  });

  test("is forgotten when it is among the oldest of more than ten thousand", async () => {
    const delivered = new DeliveredEntries();
    const [entry] = await (await storeOf(["e0"])).list({}, { limit: 1, offset: 0 }, bound());
    const nth = (n: number) => ({ ...(entry as unknown as DeadLetter), id: `e${n}` });
    for (let n = 0; n <= 10_000; n++) delivered.add(nth(n));
    expect([0, 1, 10_000].map((n) => delivered.has(nth(n)))).toEqual([false, true, true]);
  });
});

describe("spec 4.6.7: without redrive-safe injection", () => {
  test.each([
    ["the entry belongs to one binding", { bindingId: "out" }],
    ["the route is shared_outbox", { routeId: "outboxed" }],
    ["the entry has an envelope id", { envelope: envelopeOf({ id: "m" }) }],
    ["the entry has a deduplication key", { envelope: envelopeOf({ id: "", headers: { [RESERVED.dedupId]: "d" } }) }],
  ])("one reason is enough to refuse: %s", async (reason, changes) => {
    const store = await storeOf(["e0"], { bindingId: "", envelope: envelopeOf({ id: "" }), ...changes });
    const injected: string[] = [];
    const target: RedriveTarget = {
      inject: async (routeId) => (injected.push(routeId), DELIVERED),
      deliveryMode: (routeId) => (routeId === "outboxed" ? "shared_outbox" : "direct_hold"),
    };
    const options = {
      ids: ["e0"],
      store,
      target,
      busy: new Set<string>(),
      delivered: new DeliveredEntries(),
      clock: systemClock,
      logger: silentLogger,
      signal: bound(),
      mayBegin: () => true,
    };
    const error = `refused: runtime lacks redrive-safe injection (${reason})`;
    expect((await redrive(options)).errors).toEqual([{ id: "e0", error }]);
    expect([injected, await left(store)]).toEqual([[], 1]);
  });
});

describe("spec 4.6: many entries", () => {
  test("sixteen are under way at once, and each that ends makes room for the next", async () => {
    const ids = idsOf(50);
    const store = await storeOf(ids);
    const open: (() => void)[] = [];
    let most = 0;
    const redriven = run(store, ids, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      open.push(resolve);
      most = Math.max(most, open.length);
      await promise;
      return DELIVERED;
    });
    for (let ended = 0; ended < ids.length; ended++) {
      for (let wait = 0; open.length < Math.min(AT_ONCE, ids.length - ended) && wait < 100; wait++) await turn();
      open.shift()?.();
    }
    expect(await redriven).toMatchObject({ redriven: 50, failed: 0 });
    expect([most, await left(store)]).toEqual([AT_ONCE, 0]);
  });

  test("those that another redrive works on are passed over, and take no room", async () => {
    const ids = idsOf(30);
    const store = await storeOf(ids);
    const busy = new Set(ids.slice(0, 20));
    const result = await run(store, ids, async () => DELIVERED, { busy });
    expect(result).toMatchObject({ redriven: 10, failed: 20 });
    expect(busy).toEqual(new Set(ids.slice(0, 20)));
  });

  test("one that waits behind another of its key is not attempted when the bound comes, and nothing stays busy", async () => {
    const envelope = envelopeOf({ id: "x", headers: { [RESERVED.orderingKey]: "k" } });
    const store = await storeOf(["e0", "e1"], { envelope });
    const [busy, stop] = [new Set<string>(), new AbortController()];
    const begun: string[] = [];
    const redriven = run(
      store,
      ["e0", "e1"],
      ({ id }, signal) => {
        begun.push(id);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
      { busy, signal: stop.signal },
    );
    while (busy.size < 2) await turn();
    stop.abort(new Error("60 s are over"));
    expect((await redriven).errors).toEqual([
      { id: "e0", error: "outcome unknown" },
      { id: "e1", error: "not attempted" },
    ]);
    expect([begun, busy.size]).toEqual([["e0"], 0]);
  });

  test("of what is not reached by the bound nothing is read", async () => {
    const ids = idsOf(AT_ONCE + 4);
    const store = await storeOf(ids);
    const [stop, read] = [new AbortController(), [] as string[]];
    const counting: Store = { ...store, get: (id, signal) => (read.push(id), store.get(id, signal)) };
    const redriven = run(
      counting,
      ids,
      (_, signal) => new Promise((__, reject) => signal.addEventListener("abort", () => reject(new Error("over")))),
      { signal: stop.signal },
    );
    while (read.length < AT_ONCE) await turn();
    stop.abort(new Error("60 s are over"));
    expect((await redriven).errors.map(({ error }) => error)).toEqual([
      ...Array.from({ length: AT_ONCE }, () => "outcome unknown"),
      ...Array.from({ length: 4 }, () => "not attempted"),
    ]);
    expect(read).toEqual(ids.slice(0, AT_ONCE));
  });

  test("those of other keys, and of other routes, do not wait for one of its key", async () => {
    const keyed = (key: string): Partial<DeadLetter> => ({
      envelope: envelopeOf({ id: "x", headers: { [RESERVED.orderingKey]: key } }),
    });
    const store = await storeOf(["e0"], keyed("k"));
    for (const [id, changes] of [
      ["e1", keyed("other")],
      ["e2", { ...keyed("k"), routeId: "other" }],
    ] as const) {
      const entry = await (await storeOf([id], changes)).get(id, bound());
      if (entry !== undefined) await store.put(entry, bound());
    }
    const first = Promise.withResolvers<InjectResult>();
    const begun: string[] = [];
    const redriven = run(store, ["e0", "e1", "e2"], ({ id }) => {
      begun.push(id);
      return id === "e0" ? first.promise : Promise.resolve(DELIVERED);
    });
    for (let wait = 0; begun.length < 3 && wait < 100; wait++) await turn();
    expect(begun).toEqual(["e0", "e1", "e2"]);
    first.resolve(DELIVERED);
    expect(await redriven).toEqual({ redriven: 3, failed: 0, errors: [] });
  });

  test("one whose entry is read, or whose turn comes, when a stop has begun is not attempted", async () => {
    const envelope = envelopeOf({ id: "x", headers: { [RESERVED.orderingKey]: "k" } });
    const store = await storeOf(["e0", "e1", "e2"], { envelope });
    const begun: string[] = [];
    const stop = { begun: false };
    // The stop begins with the first one under way, the second behind it, and the third being read.
    const reading: Store = {
      ...store,
      get: async (id, signal) => {
        const entry = await store.get(id, signal);
        stop.begun ||= id === "e2";
        return entry;
      },
    };
    const first = Promise.withResolvers<InjectResult>();
    const replay: Replay = ({ id }) => (begun.push(id), first.promise);
    const redriven = run(reading, ["e0", "e1", "e2"], replay, { mayBegin: () => !stop.begun });
    while (!stop.begun) await turn();
    first.resolve(DELIVERED);
    expect((await redriven).errors).toEqual(["e1", "e2"].map((id) => ({ id, error: "not attempted" })));
    expect([begun, await left(store)]).toEqual([["e0"], 2]);
  });

  test("one whose entry is still being read at the bound is not attempted", async () => {
    const store = await storeOf(["e0"]);
    const stop = new AbortController();
    const mute: Store = { ...store, get: () => new Promise(() => {}) };
    const redriven = run(mute, ["e0"], async () => DELIVERED, { signal: stop.signal });
    await turn();
    stop.abort(new Error("60 s are over"));
    expect((await redriven).errors).toEqual([{ id: "e0", error: "not attempted" }]);
  });
});
