import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
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
  for (const one of [record("l1", "gone"), record("l2", "gone"), record("l3", "also-gone", "gone-too")])
    await outbox.persist([one], bound());
  const { supervisor } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox });
  await supervisor.start(bound());
  const waiting = () =>
    Object.fromEntries(supervisor.view().undelivered.map(({ bindingId, depth }) => [bindingId, depth]));
  await clock.until(() => supervisor.view().undelivered.length === 2);
  expect(waiting()).toEqual({ gone: 2, "also-gone": 1 });
  expect(await supervisor.deadLetterRecords(["l1"], bound())).toMatchObject({ moved: 1 });
  expect(waiting()).toEqual({ gone: 1, "also-gone": 1 });
  expect(await supervisor.deadLetterRecords(["l2"], bound())).toMatchObject({ moved: 1 });
  expect(waiting()).toEqual({ "also-gone": 1 });
  expect(await supervisor.deadLetterRecords(["l3"], bound())).toMatchObject({ moved: 1 });
  expect(waiting()).toEqual({});
  await supervisor.shutdown();
});
