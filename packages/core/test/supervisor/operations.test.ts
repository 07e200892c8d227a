import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { entryOf } from "../dlq-job/job-bridge.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

describe("an operation without its store is refused, and says whether there will be one", () => {
  const away = (): Promise<never> => Promise.reject(new BridgeError("CONNECTION_LOST", "its service is away"));
  const notConfigured = { kind: "not_found", message: "no DLQ store configured" };
  const notOpen = { kind: "unavailable", message: "the DLQ store is not open" };

  test.each([
    ["no DLQ is configured", notConfigured, openMemoryDlq({ maxEntries: 1 }), false],
    ["its DLQ is away", notOpen, away, true],
  ])("a redrive, and taking records out of the outbox, when %s", async (_, told, dlq, isConfigured) => {
    const bridge = memoryBridge({
      dlq,
      deliveryMode: "shared_outbox",
      config: (plain) => ({ ...plain, stores: isConfigured ? plain.stores : { outbox: plain.stores.outbox } }),
    });
    const { supervisor } = bridge;
    await supervisor.start(bound());
    await expect(supervisor.redrive(["e1"], bound())).rejects.toMatchObject(told);
    await expect(supervisor.redriveEntry("e1", {}, bound())).rejects.toMatchObject(told);
    await expect(supervisor.deadLetterRecords(["l1"], bound())).rejects.toMatchObject(told);
    await supervisor.shutdown();
  });

  test("taking records out of an outbox that is away", async () => {
    const { supervisor } = memoryBridge({ deliveryMode: "shared_outbox", outbox: away });
    await supervisor.start(bound());
    const told = { kind: "unavailable", message: "the outbox store is not open" };
    await expect(supervisor.deadLetterRecords(["l1"], bound())).rejects.toMatchObject(told);
    await supervisor.shutdown();
  });

  test("taking records out of an outbox, when none is configured", async () => {
    const { supervisor } = memoryBridge();
    await supervisor.start(bound());
    await expect(supervisor.deadLetterRecords(["l1"], bound())).rejects.toMatchObject({
      kind: "not_found",
      message: "no outbox store configured",
    });
    await supervisor.shutdown();
  });
});

test("what nobody delivers becomes less with each record that an operator takes away", async () => {
  const clock = new FakeClock();
  const outbox = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const record = (id: string, bindingId: string, routeId = "r") => ({
    id,
    routeId,
    bindingId,
    address: "out",
    envelope: envelopeOf({ id: `m-${id}` }),
    payloadDigest: "d",
    createdAt: 0,
  });
  for (const one of [
    record("l1", "gone"),
    record("l2", "gone"),
    record("l3", "also-gone", "gone-too"),
    record("l4", "gone", "gone-too"),
    record("l5", "also-gone"),
  ])
    await outbox.persist([one], bound());
  const { supervisor } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox });
  await supervisor.start(bound());
  const waiting = () =>
    Object.fromEntries(
      supervisor.view().undelivered.map(({ routeId, bindingId, depth }) => [`${routeId}/${bindingId}`, depth]),
    );
  await clock.until(() => supervisor.view().undelivered.length === 4);
  const others = { "gone-too/gone": 1, "r/also-gone": 1 };
  expect(waiting()).toEqual({ ...others, "r/gone": 2, "gone-too/also-gone": 1 });
  expect(await supervisor.deadLetterRecords(["l1"], bound())).toMatchObject({ moved: 1 });
  expect(waiting()).toEqual({ ...others, "r/gone": 1, "gone-too/also-gone": 1 });
  expect(await supervisor.deadLetterRecords(["l2"], bound())).toMatchObject({ moved: 1 });
  expect(waiting()).toEqual({ ...others, "gone-too/also-gone": 1 });
  expect(await supervisor.deadLetterRecords(["l3"], bound())).toMatchObject({ moved: 1 });
  expect(waiting()).toEqual(others);
  await supervisor.shutdown();
});

test("a record that another instance has persisted is in no books here before it is taken out", async () => {
  const clock = new FakeClock();
  const outbox = {
    ...openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() }),
    shared: true,
    // Only the other instance delivers.
    claim: async () => [],
  };
  const { supervisor } = memoryBridge({ clock, outbox, deliveryMode: "shared_outbox" });
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  const waits = { routeId: "r", bindingId: "out", address: "out", payloadDigest: "d", createdAt: 0 };
  await outbox.persist([{ ...waits, id: "l1", envelope: envelopeOf({ id: "m" }) }], bound());
  expect(await supervisor.deadLetterRecords(["l1"], bound())).toMatchObject({ moved: 1 });
  const { unaccounted, legs } = supervisor.stats();
  expect(unaccounted).toBe(0);
  expect(legs.find(({ bindingId }) => bindingId === "out")).toMatchObject({
    recovered: 1,
    inOutbox: 0,
    dispositions: { dead_lettered: 1 },
  });
  await supervisor.shutdown();
});

test("records can be taken out of the outbox of a bridge that could not start", async () => {
  const clock = new FakeClock();
  const outbox = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const waits = { routeId: "r", bindingId: "out", address: "out", payloadDigest: "d", createdAt: 0 };
  await outbox.persist([{ ...waits, id: "l1", envelope: envelopeOf({ id: "m" }) }], bound());
  const bridge = memoryBridge({
    clock,
    outbox,
    deliveryMode: "shared_outbox",
    leases: () => {
      throw new Error("the tables are of version 1");
    },
  });
  await expect(bridge.supervisor.start(bound())).rejects.toThrow("version 1");
  expect(await bridge.supervisor.deadLetterRecords(["l1"], bound())).toMatchObject({ moved: 1 });
  const { unaccounted, parts, legs } = bridge.supervisor.stats();
  expect([unaccounted, parts]).toEqual([0, []]);
  expect(legs.find(({ bindingId }) => bindingId === "out")).toMatchObject({ recovered: 1, inOutbox: 0 });
  await bridge.supervisor.shutdown();
});

test.each([
  { deletes: "is deleted at the shutdown when its store takes that again", refusals: 1, told: [] },
  {
    deletes: "is named by the log at the shutdown when its store does not",
    refusals: Infinity,
    told: ["redriven entries are delivered and still there: another redrive sends them again"],
  },
])("what was redriven and could not be deleted $deletes", async ({ refusals, told }) => {
  const inner = openMemoryDlq({ maxEntries: 10 });
  const entry = entryOf(1);
  await inner.put(entry, bound());
  let refused = 0;
  const dlq: DlqStore = {
    ...inner,
    admin: {
      ...inner.admin,
      async delete(ids, signal) {
        if (refused++ < refusals) throw new BridgeError("UNAVAILABLE", "the disk is gone");
        return inner.admin.delete(ids, signal);
      },
    },
  };
  const lines: string[] = [];
  const logger: Logger = { ...silentLogger, error: (text) => void lines.push(text), child: () => logger };
  const { hub, supervisor } = memoryBridge({ dlq, logger });
  await supervisor.start(bound());
  await supervisor.redrive([entry.id], bound());
  expect(hub.channel("out").arrived).toBe(1);
  lines.length = 0;
  await supervisor.shutdown();
  expect(lines).toEqual(told);
});

test("a shutdown waits for no redrive that has ended: what delivered, and what found nothing to deliver", async () => {
  const dlq = openMemoryDlq({ maxEntries: 10 });
  for (const nth of [1, 2]) await dlq.put(entryOf(nth), bound());
  const clock = new BoundingClock();
  const { supervisor } = memoryBridge({ dlq, clock });
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  expect(await supervisor.redrive([entryOf(1).id], bound())).toMatchObject({ redriven: 1 });
  expect(await supervisor.redriveEntry(entryOf(2).id, {}, bound())).toMatchObject({ kind: "redriven" });
  expect(await supervisor.redriveEntry("gone", {}, bound())).toEqual({ kind: "missing" });
  let over = false;
  void supervisor.shutdown().then(() => (over = true));
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(over).toBe(true);
});

test("a shutdown waits five seconds for a redrive that does not end, and ends all the same", async () => {
  const dlq = { ...openMemoryDlq({ maxEntries: 10 }), get: () => new Promise<never>(() => {}) };
  const clock = new BoundingClock();
  const { supervisor } = memoryBridge({ dlq, clock });
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  const redriven = supervisor.redrive(["e1"], bound());
  await turn();
  let over = false;
  const closed = supervisor.shutdown().then(() => (over = true));
  await clock.advance(4_999);
  expect(over).toBe(false);
  await clock.advance(1);
  await closed;
  await clock.advance(5_000);
  expect(await redriven).toMatchObject({ redriven: 0, failed: 1 });
});
