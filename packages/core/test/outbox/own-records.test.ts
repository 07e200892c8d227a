import { type OutboxStatus, systemRandom } from "@bridge/ports";
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
  account.persist("record");
  const held = new Set<string>();
  const depth = new OutboxDepth(1);
  depth.found(1);
  const stop = new AbortController();
  await using _ = followOwnRecords({ store: () => store, account, depth, held, clock }, stop.signal);
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
    account.persist(id);
  }
  const depth = new OutboxDepth(1_000);
  depth.found(ids.length);
  const stop = new AbortController();
  await using _ = followOwnRecords({ store: () => store, account, depth, held: new Set(), clock }, stop.signal);
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

test("when one of ours has ended elsewhere the next look comes soon, however long none had", async () => {
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const ended = new Set<string>();
  const status = async (id: string): Promise<OutboxStatus> => (ended.has(id) ? "done" : "pending");
  const store = { ...memory, shared: true, status };
  const account = new Accounts().leg("r", "out");
  for (const id of ["a", "b"]) {
    account.open("received");
    account.persist(id);
  }
  const stop = new AbortController();
  const options = { store: () => store, account, depth: new OutboxDepth(10), held: new Set<string>(), clock };
  await using _ = followOwnRecords(options, stop.signal);
  await clock.advance(200_000);
  ended.add("a");
  await clock.until(() => !account.own.has("a"), 500);
  ended.add("b");
  await clock.advance(2_500);
  expect(account.own.has("b")).toBe(false);
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
    account.persist(id);
  }
  const stop = new AbortController();
  const options = { store: () => store, account, depth: new OutboxDepth(10), held: new Set(["lent"]), clock };
  await using _ = followOwnRecords(options, stop.signal);
  await clock.until(() => asked.length === 2, 500);
  expect(asked).toEqual(["elsewhere", "elsewhere"]);
  stop.abort();
});
