import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type Logger, type OutboxStore, silentLogger, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Claiming } from "../../src/outbox/claiming.ts";
import { drainBudget } from "../../src/outbox/drain-budget.ts";
import { StoreCalls } from "../../src/route/store-calls.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { HastyClock } from "../support/hasty-clock.ts";
import { policyOf } from "../support/policy.ts";

const never = new AbortController().signal;
const BUDGETS = { perRecordDrainTimeoutMs: 4_000, maxDrainTimeoutMs: 60_000 };

/** Claims for route `r`, binding `b` from the store that is open at the time. */
function claimingFrom(open: () => OutboxStore | undefined, clock = new FakeClock(), logger: Logger = silentLogger) {
  let arrivals = 0;
  const parts = {
    clock,
    logger,
    config: { id: "r", policy: policyOf() },
    budgets: () => BUDGETS,
    storeCalls: { dlq: new StoreCalls(clock), outbox: new StoreCalls(clock) },
  };
  const options = { parts, target: { bindingId: "b" }, store: open, onArrival: () => void arrivals++ };
  const claiming = new Claiming(options as unknown as ConstructorParameters<typeof Claiming>[0]);
  return { clock, claiming, arrived: () => arrivals };
}

/** A store that tells who hears of what comes into it. */
function heardStore(changes: Partial<OutboxStore> = {}) {
  const hearers = new Set<() => void>();
  let heard = 0;
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const onArrival: OutboxStore["onArrival"] = (_place, hear) => {
    // Each time another one, so that who hears twice is told twice.
    const hearer = (): void => hear();
    hearers.add(hearer);
    heard++;
    return { [Symbol.dispose]: () => void hearers.delete(hearer) };
  };
  const tell = (): void => hearers.forEach((hearer) => hearer());
  return { store: { ...memory, onArrival, ...changes } satisfies OutboxStore, hearers, tell, heard: () => heard };
}

describe("what comes into the outbox", () => {
  test("is heard of once from the store that is open, and from another one when that is", () => {
    const [first, second] = [heardStore(), heardStore()];
    const { claiming, arrived } = claimingFrom(() => undefined);
    claiming.hear(undefined);
    claiming.hear(first.store);
    claiming.hear(first.store);
    claiming.hear(undefined);
    first.tell();
    expect([arrived(), first.heard()]).toEqual([1, 1]);
    claiming.hear(second.store);
    expect([first.hearers.size, second.hearers.size]).toEqual([0, 1]);
    claiming[Symbol.dispose]();
    expect(second.hearers.size).toBe(0);
  });

  test("is heard of from the first claim on when the store opens after the route has begun", async () => {
    const { store, hearers } = heardStore();
    let opened: OutboxStore | undefined;
    const { claiming } = claimingFrom(() => opened);
    expect(await claiming.claim(10, never)).toBeInstanceOf(BridgeError);
    opened = store;
    expect(await claiming.claim(10, never)).toMatchObject({ claims: [] });
    expect(hearers.size).toBe(1);
  });
});

describe("a claim", () => {
  test("of a store that is not open, refuses or does not answer says so, and is a fault until one gives records", async () => {
    const answers: (() => OutboxStore | undefined)[] = [
      () => undefined,
      () => heardStore({ claim: () => Promise.reject(new BridgeError("UNAVAILABLE", "away")) }).store,
      () => heardStore({ claim: () => new Promise(() => {}) }).store,
      () => heardStore().store,
    ];
    const { claiming } = claimingFrom(() => answers.shift()?.(), new HastyClock());
    for (const [code, message] of [
      ["UNAVAILABLE", "no outbox store is open"],
      ["UNAVAILABLE", "away"],
      ["TIMEOUT", "the outbox store did not answer"],
    ]) {
      expect(await claiming.claim(10, never)).toMatchObject({ code, message });
      expect(claiming.fault).toMatchObject({ code, message });
    }
    expect(await claiming.claim(10, never)).toMatchObject({ claims: [] });
    expect(claiming.fault).toBeUndefined();
  });

  test("is lent for longer than its sends and what follows them may take; the last one begins well before that", async () => {
    const loans: number[] = [];
    const { store } = heardStore({
      claim: ({ loanMs }) => {
        loans.push(loanMs);
        return Promise.resolve([]);
      },
    });
    const { clock, claiming } = claimingFrom(() => store);
    const { sendTimeoutMs } = policyOf();
    const claimed = await claiming.claim(10, never);
    if (claimed instanceof BridgeError) throw claimed;
    const budgetMs = drainBudget(10, sendTimeoutMs, BUDGETS);
    expect(budgetMs).toBe(40_000);
    expect(claimed.sendBy - clock.monotonic()).toBe(budgetMs + 15_000);
    // A send that begins then, its dead letter and its end are written before anybody else may have the record.
    expect(loans).toEqual([budgetMs + sendTimeoutMs + 30_000]);
  });
});

test("a claim that is given up is no failure of the store, and one that the store refuses is told of", async () => {
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, error: (text) => void told.push(text) };
  let claim: OutboxStore["claim"] = () => new Promise(() => {});
  const { store } = heardStore({ claim: (...asked) => claim(...asked) });
  const { claiming } = claimingFrom(() => store, new FakeClock(), logger);
  const over = new AbortController();
  const given = claiming.claim(10, over.signal);
  over.abort(new BridgeError("UNAVAILABLE", "the route stops"));
  expect([await given, told]).toMatchObject([{ message: "the route stops" }, []]);
  claim = () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full"));
  expect([await claiming.claim(10, never), told.length]).toMatchObject([{ message: "disk full" }, 1]);
});
