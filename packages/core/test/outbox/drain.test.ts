import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type OutboxRecord, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { Drain } from "../../src/outbox/drain.ts";
import { EntryFates } from "../../src/outbox/entry-fates.ts";
import { legIds } from "../../src/outbox/leg-ids.ts";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { RecordOutcomes } from "../../src/outbox/record-outcomes.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { HeldSender } from "../support/held-sender.ts";
import { bound, outage } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";

type Changes = (inner: OutboxStore, open: { store: OutboxStore | undefined }) => Partial<OutboxStore>;

/** A drain at work on a store in memory, which holds one record; a test answers for its target. */
async function draining(record: Partial<OutboxRecord> = {}, changes: Changes = () => ({})) {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const open = { store: undefined as OutboxStore | undefined };
  let claims = 0;
  const changed = { ...inner, ...changes(inner, open) };
  const whole: OutboxStore = {
    ...changed,
    claim(request, signal) {
      claims++;
      return changed.claim(request, signal);
    },
  };
  open.store = whole;
  const backoff = { initialIntervalMs: 5_000, maxIntervalMs: 5_000, multiplier: 1, jitter: 0 };
  const { parts: built } = partsOf({ clock, deliveryMode: "shared_outbox", policy: { backoff } });
  const [route] = built.routes.values();
  const [given] = route?.targets.values() ?? [];
  if (route === undefined || given === undefined) throw new Error("the bridge has no binding");
  const surprises: unknown[] = [];
  const deleted: string[] = [];
  const dlq = {
    ...openMemoryDlq({ maxEntries: 10 }),
    admin: { delete: async (ids: readonly string[]) => (deleted.push(...ids), new Set(ids)) },
  } as unknown as DlqStore;
  const parts = {
    ...route,
    dlq: () => dlq,
    outbox: () => open.store,
    surprises: Object.assign(route.surprises, { tell: (_: string, thrown: unknown) => void surprises.push(thrown) }),
  };
  const sender = new HeldSender();
  const target = { ...given, sender };
  const depth = new OutboxDepth(10);
  const store = () => open.store;
  const givenUp = new AbortController();
  const seen = { outcomes: new RecordOutcomes(), entries: new EntryFates(), givenUp: givenUp.signal };
  const drain = new Drain({ parts, target, store, depth, ...seen });
  const kept: OutboxRecord = {
    id: "record",
    routeId: "r",
    bindingId: "out",
    address: "out",
    envelope: envelopeOf(),
    payloadDigest: "d",
    createdAt: clock.now(),
    ...record,
  };
  await inner.persist([kept], bound());
  target.account.recover(1);
  depth.found(1);
  const stop = new AbortController();
  const running = drain.run(stop.signal);
  await clock.until(() => sender.sends.length === 1);
  // Until it has asked for more and found none.
  await clock.advance(10);
  const end = async () => {
    stop.abort();
    givenUp.abort();
    await running;
  };
  /** How often the store is asked in so much time. */
  const asked = async (ms: number): Promise<number> => {
    const before = claims;
    for (let step = 0; step < 10; step++) await clock.advance(ms / 10);
    return claims - before;
  };
  return { clock, open, sender, depth, account: target.account, surprises, deleted, whole, asked, end };
}

test.each([
  { key: "k", ended: "delivered", times: 1 },
  { key: undefined, ended: "delivered", times: 0 },
  { key: "k", ended: "to be tried again", times: 0 },
  { key: undefined, ended: "to be tried again", times: 0 },
])(
  "a drain that has nothing to do asks at once for the next record of a key when one is $ended, which could not be lent before: $key",
  async ({ key, ended, times }) => {
    const { sender, asked, end } = await draining({ orderingKey: key });
    if (ended === "delivered") sender.sends[0]?.accept();
    else sender.sends[0]?.refuse(outage);
    expect(await asked(20)).toBe(times);
    await end();
  },
);

test("a drain asks as seldom as before when what was to be tried again has been delivered", async () => {
  const { clock, sender, asked, end } = await draining();
  sender.sends[0]?.refuse(outage);
  await clock.until(() => sender.sends.length === 2);
  sender.sends[1]?.accept();
  await clock.advance(110);
  expect(await asked(700)).toBeLessThanOrEqual(1);
  await end();
});

test.each(["claim", "finish"] as const)(
  "a store that is gone when it has answered %s keeps no record from its end",
  async (call) => {
    let goes = true;
    const { clock, open, sender, depth, account, surprises, whole, end } = await draining({}, (inner, now) => ({
      [call]: async (...args: never) => {
        const answer: unknown = await (inner[call] as (...args: never) => Promise<unknown>)(...args);
        if (goes) now.store = undefined;
        goes = false;
        return answer;
      },
    }));
    sender.sends[0]?.accept();
    await clock.advance(100);
    open.store = whole;
    await clock.advance(10_000);
    expect([account.inOutbox, depth.depth, surprises]).toEqual([0, 0, []]);
    await end();
  },
);

test("a record that is to be tried again, of which nobody knows whether the store was told so, is no mistake of anybody", async () => {
  const { clock, sender, account, surprises, end } = await draining({}, () => ({
    finish: () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full")),
  }));
  sender.sends[0]?.refuse(outage);
  await clock.advance(120_000);
  expect(surprises).toEqual([outage]);
  expect([...account.doubted]).toEqual([]);
  await end();
});

test("a leg that was delivered under a loan that had lapsed takes no dead letter along: whoever has it by now does that", async () => {
  const [own = "", other = ""] = legIds("m", 2);
  const statuses = ["pending", "done"] as const;
  let asked = 0;
  const { clock, sender, deleted, end } = await draining({ id: own, entryId: "e1" }, () => ({
    finish: async () => [false],
    status: async (id) => (id === other ? statuses[Math.min(1, asked++)] : "pending"),
  }));
  sender.sends[0]?.accept();
  await clock.advance(1_000);
  expect(deleted).toEqual([]);
  await end();
});
