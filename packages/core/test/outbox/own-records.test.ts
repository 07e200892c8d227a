import {
  BridgeError,
  type Logger,
  type OutboxStatus,
  type OutboxStore,
  silentLogger,
  systemRandom,
} from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import { expect, test } from "vitest";
import { Accounts } from "../../src/accounting/accounts.ts";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { followOwnRecords } from "../../src/outbox/own-records.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** Records of ours in an outbox that others drain too, which are followed; `status` says what has become of each. */
function following(ids: readonly string[], status: OutboxStore["status"], clock = new FakeClock()) {
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
  const asked: string[] = [];
  const store: OutboxStore = {
    ...memory,
    shared: true,
    status(id, signal) {
      asked.push(id);
      return status(id, signal);
    },
  };
  const account = new Accounts().leg("r", "out");
  const depth = new OutboxDepth(1_000);
  for (const id of ids) {
    account.open("received");
    account.persist(id, true, true);
    depth.found(1);
  }
  const held = new Set<string>();
  const told: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, fields) => void told.push(fields) };
  const options = { store: () => store, account, depth, held, clock, logger };
  const running = followOwnRecords(options, new AbortController().signal);
  return { clock, account, depth, held, asked, told, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

type Following = ReturnType<typeof following>;

test.each<[string, (on: Following) => void, abandoned: number, depth: number]>([
  ["it is another's still", () => {}, 1, 0],
  ["we have it on loan by then, so that we see the end ourselves", ({ held }) => void held.add("record"), 0, 1],
  [
    "we have seen its end by then",
    ({ account, depth }) => {
      if (account.drain("delivered", "record", true)) depth.give(1);
    },
    0,
    0,
  ],
])(
  "a record of ours that has ended when the store answers leaves the books once: %s",
  async (_, meanwhile, ...left) => {
    const answer = Promise.withResolvers<OutboxStatus>();
    await using on = following(["record"], () => answer.promise);
    const { clock, account, depth, asked } = on;
    await clock.until(() => asked.length === 1, 500);
    meanwhile(on);
    answer.resolve("done");
    await clock.advance(0);
    expect([account.read().dispositions.abandoned, depth.depth]).toEqual(left);
  },
);

test("of many records each has its turn, again and again, some at a time", async () => {
  const ended = new Set<string>();
  const ids = Array.from({ length: 130 }, (_, at) => `r${at}`);
  await using on = following(ids, async (id) => (ended.has(id) ? "done" : "pending"));
  const { clock, account, depth, asked } = on;
  for (let round = 0; round < 2; round++) {
    const sizes: number[] = [];
    while (sizes.length < 3) {
      const before = asked.length;
      await clock.until(() => asked.length > before, 500, 200);
      sizes.push(asked.length - before);
    }
    expect(sizes).toEqual([50, 50, 30]);
    expect(asked.splice(0)).toEqual(ids);
  }
  for (const id of ["r125", "r3"]) {
    ended.add(id);
    await clock.until(() => !account.own.has(id), 500, 1_000);
  }
  expect([account.read().dispositions.abandoned, depth.depth]).toEqual([2, 128]);
});

test("what is on loan here is not asked for, because its end is seen here", async () => {
  await using on = following(["lent", "elsewhere"], async () => "pending");
  on.held.add("lent");
  await on.clock.until(() => on.asked.length === 2, 500);
  expect(on.asked).toEqual(["elsewhere", "elsewhere"]);
});

test("records that are not there any more leave the books, and the log says how many", async () => {
  await using on = following(["ended", "deleted", "emptied"], async (id) => (id === "ended" ? "done" : undefined));
  await on.clock.until(() => on.depth.depth === 0, 500);
  expect(on.account.read().dispositions.abandoned).toBe(3);
  expect(on.told).toEqual([{ records: 2 }]);
});

test("others are asked less and less often while nothing of ours ends there, and soon again when something has", async () => {
  const clock = new FakeClock();
  const start = clock.now();
  const asked: [string, number][] = [];
  const status = async (id: string): Promise<OutboxStatus> => {
    const seconds = (clock.now() - start) / 1_000;
    asked.push([id, seconds]);
    return id === "short" && seconds > 60 ? "done" : "pending";
  };
  await using _ = following(["long", "short"], status, clock);
  await clock.advance(100_000);
  const times = (of: string): number[] => asked.filter(([id]) => id === of).map(([, seconds]) => seconds);
  expect(times("short")).toEqual([4, 8, 16, 32, 62]);
  expect(times("long")).toEqual([4, 8, 16, 32, 62, 64, 68, 76, 92]);
});

test.each([
  { whose: "that others may have ended", shared: true },
  { whose: "whose end was said and not answered", shared: false },
])(
  "a store that is away, refuses or does not answer says nothing of a record $whose, and is asked again",
  async ({ shared }) => {
    const clock = new BoundingClock();
    const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 1_000, clock, random: systemRandom() });
    const manners = {
      away: undefined,
      refuses: () => Promise.reject(new BridgeError("UNAVAILABLE", "no answer")),
      hangs: () => new Promise<never>(() => {}),
      answers: async () => "done" as const,
    };
    let manner: keyof typeof manners = "away";
    const store = (): OutboxStore | undefined => {
      const status = manners[manner];
      return status && { ...memory, shared, status };
    };
    const account = new Accounts().leg("r", "out");
    account.open("received");
    account.persist("record", true, shared);
    if (!shared) account.doubt("record", "delivered");
    const depth = new OutboxDepth(1);
    depth.found(1);
    const options = { store, account, depth, held: new Set<string>(), clock, logger: silentLogger };
    await using _ = followOwnRecords(options, new AbortController().signal);
    for (manner of ["away", "refuses", "hangs"] as const) {
      await clock.advance(60_000);
      expect([account.inOutbox, depth.depth]).toEqual([1, 1]);
    }
    manner = "answers";
    await clock.advance(60_000);
    expect([account.inOutbox, depth.depth]).toEqual([0, 0]);
  },
);
