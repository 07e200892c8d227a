import { type DeadLetter, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { RedriveEntryRequest } from "../../src/supervisor/contract.ts";
import { entryOf, started, stored } from "../dlq-job/job-bridge.ts";
import { bound, type MemoryBridge, type MemoryBridgeOptions, refusal } from "../support/memory-bridge.ts";

const entry = entryOf(1);
const { id } = entry;
const EDITED = Buffer.from("edited");

const edit = (received: DeadLetter): DeadLetter => ({
  ...received,
  envelope: { ...received.envelope, subject: "edited/subject", payload: EDITED },
});

async function with1(options: MemoryBridgeOptions = {}): Promise<MemoryBridge> {
  const bridge = await started(options);
  await bridge.dlq.put(entry, bound());
  return bridge;
}

function redriven({ supervisor }: MemoryBridge, request?: RedriveEntryRequest) {
  return supervisor.redriveEntry(id, request, bound());
}

/** As it is kept, but for its marks. */
async function kept({ dlq }: MemoryBridge): Promise<Omit<DeadLetter, "marks"> | undefined> {
  const { marks: _, ...rest } = (await dlq.get(id, bound())) ?? ({} as DeadLetter);
  return rest;
}

describe.each(["direct_hold", "shared_outbox"] as const)(
  "operators 4: a single entry on a %s route",
  (deliveryMode) => {
    test("is sent as edited, and deleted once that is delivered", async () => {
      const bridge = await with1({ deliveryMode });
      const result = await redriven(bridge, { edit });
      expect(result).toMatchObject({ kind: "redriven" });
      const [message] = bridge.hub.channel("out").messages();
      expect(message).toMatchObject({ id: (result as { envelopeId: string }).envelopeId, subject: "edited/subject" });
      expect(Buffer.from(message?.payload ?? []).toString()).toBe("edited");
      expect(message?.headers?.[RESERVED.causationId]).toBe("original-e00001");
      expect(message?.headers?.[RESERVED.job]).toBeUndefined();
      expect(await stored(bridge.dlq)).toEqual([]);
      expect(bridge.supervisor.stats()).toMatchObject({ unaccounted: 0, redrives: 1 });
      await bridge.supervisor.shutdown();
    });

    test.each(["dlq", "drop"] as const)(
      "whose edited delivery fails by policy %s is byte-identical afterwards, marked, and there once",
      async (onPermanentFailure) => {
        const bridge = await with1({ deliveryMode, policy: { onPermanentFailure } });
        const before = await kept(bridge);
        bridge.hub.channel("out").sends.failNext(1, refusal);
        const disposition = onPermanentFailure === "dlq" ? "dead_lettered" : "dropped";
        expect(await redriven(bridge, { edit })).toMatchObject({
          kind: "not_delivered",
          result: { outcome: disposition },
        });
        expect(await kept(bridge)).toEqual(before);
        expect(await stored(bridge.dlq)).toEqual([id]);
        const { redrives } = (await bridge.dlq.get(id, bound()))?.marks ?? {};
        expect(redrives).toMatchObject({ count: 1, lastCode: refusal.code });
        expect(redrives?.jobId).toBeUndefined();
        expect(bridge.supervisor.stats()).toMatchObject({ unaccounted: 0, redriveFailures: 1 });

        // What has failed, edited or not, does not stand in the way of another try.
        bridge.hub.channel("out").sends.failNext(1, refusal);
        await redriven(bridge);
        expect((await bridge.dlq.get(id, bound()))?.marks?.redrives?.count).toBe(2);
        expect(await redriven(bridge, { edit })).toMatchObject({ kind: "redriven" });
        expect(bridge.hub.channel("out").arrived).toBe(1);
        await bridge.supervisor.shutdown();
      },
    );

    test("of two editors one is told that it is busy, and one message goes out", async () => {
      const bridge = await with1({ deliveryMode });
      const out = bridge.hub.channel("out");
      const held = out.sends.hold();
      const first = redriven(bridge, { edit });
      await out.until(({ sends }) => sends.held === 1, bound());
      expect(await redriven(bridge, { edit })).toEqual({ kind: "busy" });
      expect(await bridge.supervisor.redrive([id], bound())).toMatchObject({ redriven: 0, failed: 1 });
      held[Symbol.dispose]();
      expect(await first).toMatchObject({ kind: "redriven" });
      expect(out.arrived).toBe(1);
      await bridge.supervisor.shutdown();
    });
  },
);

describe("operators 4: a single entry", () => {
  test("that is not there, or is kept back, is not sent", async () => {
    const bridge = await with1();
    expect(await bridge.supervisor.redriveEntry("nothing", {}, bound())).toEqual({ kind: "missing" });
    await bridge.dlq.marks?.mark(new Map([[id, { quarantined: true }]]), bound());
    expect(await redriven(bridge)).toEqual({ kind: "quarantined" });
    expect(bridge.hub.channel("out").arrived).toBe(0);
    await bridge.supervisor.shutdown();
  });

  test("goes to the binding of the edit", async () => {
    const bridge = await with1({ bindings: ["out", "other"] });
    expect(await redriven(bridge, { edit: (one) => ({ ...one, bindingId: "other" }) })).toMatchObject({
      kind: "redriven",
    });
    expect([bridge.hub.channel("out").arrived, bridge.hub.channel("other").arrived]).toEqual([0, 1]);
    await bridge.supervisor.shutdown();
  });

  test("an edit that throws does nothing, and counts for nothing", async () => {
    const bridge = await with1();
    const edits = {
      edit: () => {
        throw new RangeError("no such thing");
      },
    };
    await expect(redriven(bridge, edits)).rejects.toThrow("no such thing");
    expect(bridge.supervisor.stats()).toMatchObject({ redrives: 0, redriveFailures: 0 });
    expect(await redriven(bridge)).toMatchObject({ kind: "redriven" });
    await bridge.supervisor.shutdown();
  });

  test("whose delivery takes too long stays, and says so", async () => {
    const bridge = await with1();
    const held = bridge.hub.channel("out").sends.hold();
    const answer = redriven(bridge, { replayTimeoutMs: 1_000 });
    await bridge.hub.channel("out").until(({ sends }) => sends.held === 1, bound());
    await Promise.all([
      expect(answer).rejects.toThrow("not delivered within 1 s, outcome unknown: the entry stays"),
      bridge.clock.advance(1_000),
    ]);
    expect((await bridge.dlq.get(id, bound()))?.marks?.redrives).toMatchObject({ count: 1, lastCode: "TIMEOUT" });
    expect(bridge.supervisor.stats()).toMatchObject({ redrives: 0, redriveFailures: 1 });
    held[Symbol.dispose]();
    await bridge.supervisor.shutdown();
  });

  test("that was delivered and not deleted is deleted by the next redrive, which sends nothing", async () => {
    const bridge = await with1();
    const { admin } = bridge.dlq;
    const remove = admin?.delete.bind(admin);
    Object.assign(admin ?? {}, { delete: () => Promise.reject(new Error("no")) });
    expect(await redriven(bridge)).toMatchObject({ kind: "not_deleted", envelopeId: expect.any(String) as string });
    Object.assign(admin ?? {}, { delete: remove });
    expect(await redriven(bridge, { edit })).toEqual({ kind: "busy" });
    expect(await stored(bridge.dlq)).toEqual([]);
    expect(bridge.hub.channel("out").arrived).toBe(1);
    await bridge.supervisor.shutdown();
  });

  test("needs a store that can mark, and a runtime", async () => {
    const bridge = await with1();
    Object.defineProperty(bridge.dlq, "marks", { value: undefined });
    await expect(redriven(bridge)).rejects.toMatchObject({
      kind: "not_found",
      message: "the DLQ store cannot do that",
    });
    await bridge.supervisor.stop(bound());
    await expect(redriven(bridge)).rejects.toMatchObject({ kind: "unavailable" });
    await bridge.supervisor.shutdown();
  });
});
