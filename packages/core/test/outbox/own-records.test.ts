import { type Logger, type OutboxStatus, silentLogger, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { followOwnRecords } from "../../src/outbox/own-records.ts";
import { FakeClock } from "../support/fake-clock.ts";

test.each([
  { held: true, name: "we have it on loan by then, so that we see the end ourselves", abandoned: 0 },
  { held: false, name: "it was another's", abandoned: 1 },
])("a record of ours that has ended when the store answers is abandoned only if $name", async (given) => {
  const clock = new FakeClock();
  const answer = Promise.withResolvers<OutboxStatus>();
  let asked = 0;
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const store = {
    ...memory,
    shared: true,
    status() {
      asked++;
      return answer.promise;
    },
  };
  const account = new Accounts().leg("r", "out");
  account.open("received");
  account.persist("record", true, true);
  const held = new Set<string>();
  const depth = new OutboxDepth(1);
  depth.found(1);
  const stop = new AbortController();
  await using _ = followOwnRecords(
    { store: () => store, account, depth, held, clock, logger: silentLogger },
    stop.signal,
  );
  await clock.until(() => asked === 1, 500);
  if (given.held) held.add("record");
  answer.resolve("done");
  await clock.advance(0);
  expect(account.read().dispositions.abandoned).toBe(given.abandoned);
  expect(depth.depth).toBe(1 - given.abandoned);
  stop.abort();
});

test("of many records each has its turn, again and again, some at a time", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const ended = new Set<string>();
  let asked: string[] = [];
  const store = {
    ...memory,
    shared: true,
    async status(id: string): Promise<OutboxStatus> {
      asked.push(id);
      return ended.has(id) ? "done" : "pending";
    },
  };
  const account = new Accounts().leg("r", "out");
  const ids = Array.from({ length: 130 }, (_, at) => `r${at}`);
  for (const id of ids) {
    account.open("received");
    account.persist(id, true, true);
  }
  const depth = new OutboxDepth(1_000);
  depth.found(ids.length);
  const stop = new AbortController();
  await using _ = followOwnRecords(
    { store: () => store, account, depth, held: new Set(), clock, logger: silentLogger },
    stop.signal,
  );
  for (let round = 0; round < 2; round++) {
    const sizes: number[] = [];
    for (const size of [50, 50, 30]) {
      await clock.until(() => asked.length >= sizes.reduce((a, b) => a + b, 0) + size, 500, 200);
      sizes.push(size);
    }
    expect(asked).toEqual(ids);
    asked = [];
  }
  for (const id of ["r125", "r3"]) {
    ended.add(id);
    await clock.until(() => !account.own.has(id), 500, 1_000);
  }
  expect([account.read().dispositions.abandoned, depth.depth]).toEqual([2, 128]);
  stop.abort();
});

test("what is on loan here is not asked for, because its end is seen here", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const asked: string[] = [];
  const store = {
    ...memory,
    shared: true,
    async status(id: string): Promise<OutboxStatus> {
      asked.push(id);
      return "pending";
    },
  };
  const account = new Accounts().leg("r", "out");
  for (const id of ["lent", "elsewhere"]) {
    account.open("received");
    account.persist(id, true, true);
  }
  const stop = new AbortController();
  const held = new Set(["lent"]);
  const options = { store: () => store, account, depth: new OutboxDepth(10), held, clock, logger: silentLogger };
  await using _ = followOwnRecords(options, stop.signal);
  await clock.until(() => asked.length === 2, 500);
  expect(asked).toEqual(["elsewhere", "elsewhere"]);
  stop.abort();
});

test("records that are not there any more leave the books, and the log says how many", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const status = async (id: string): Promise<OutboxStatus | undefined> => (id === "ended" ? "done" : undefined);
  const account = new Accounts().leg("r", "out");
  const depth = new OutboxDepth(10);
  for (const id of ["ended", "deleted", "emptied"]) {
    account.open("received");
    account.persist(id, true, true);
    depth.found(1);
  }
  const told: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, fields) => void told.push(fields) };
  const store = () => ({ ...memory, shared: true, status });
  const stop = new AbortController();
  await using _ = followOwnRecords({ store, account, depth, held: new Set(), clock, logger }, stop.signal);
  await clock.until(() => depth.depth === 0, 500);
  expect(account.read().dispositions.abandoned).toBe(3);
  expect(told).toEqual([{ records: 2 }]);
  stop.abort();
});

test("others are asked less and less often while nothing of ours ends there, and soon again when something has", async () => {
  const clock = new FakeClock();
  const start = clock.now();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const asked: [string, number][] = [];
  const status = async (id: string): Promise<OutboxStatus> => {
    const seconds = (clock.now() - start) / 1_000;
    asked.push([id, seconds]);
    return id === "short" && seconds > 60 ? "done" : "pending";
  };
  const account = new Accounts().leg("r", "out");
  for (const id of ["long", "short"]) {
    account.open("received");
    account.persist(id, true, true);
  }
  const depth = new OutboxDepth(10);
  depth.found(2);
  const store = { ...memory, shared: true, status };
  const options = { store: () => store, account, depth, held: new Set<string>(), clock, logger: silentLogger };
  await using _ = followOwnRecords(options, new AbortController().signal);
  await clock.advance(100_000);
  const times = (of: string): number[] => asked.filter(([id]) => id === of).map(([, seconds]) => seconds);
  expect(times("short")).toEqual([4, 8, 16, 32, 62]);
  expect(times("long")).toEqual([4, 8, 16, 32, 62, 64, 68, 76, 92]);
});
