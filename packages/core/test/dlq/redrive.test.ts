import { BridgeError, type DeadLetter, type DlqStore, RESERVED, silentLogger, systemClock } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { redrive, type RedriveTarget } from "../../src/dlq/redrive.ts";
import { envelopeOf } from "../support/envelope.ts";
import { turn } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge, outage, refusal } from "../support/memory-bridge.ts";

function entryOf(id: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id,
    routeId: "r",
    bindingId: "out",
    sourceId: "in",
    correlationId: "c",
    subject: "s",
    reason: "refused",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "no",
    failedAt: 1,
    attempts: 1,
    envelope: envelopeOf({ id: `original-${id}` }),
    ...changes,
  };
}

async function started(options: Parameters<typeof memoryBridge>[0] = {}): Promise<MemoryBridge> {
  const bridge = memoryBridge({ policy: { maxReplayAttempts: 1 }, ...options });
  await bridge.supervisor.start(bound());
  return bridge;
}

const stored = async (dlq: DlqStore): Promise<readonly string[]> =>
  (await dlq.list({}, { limit: 100, offset: 0 }, bound())).map((head) => head.id);

describe("spec 4.6: redrive", () => {
  test("spec 4.6.3: an entry is injected first and deleted only after its delivery is confirmed", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entryOf("e1"), bound());
    const hold = hub.channel("out").sends.hold();
    const redriven = supervisor.redrive(["e1"], bound());
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    expect(await stored(dlq)).toEqual(["e1"]);
    hold[Symbol.dispose]();
    expect(await redriven).toEqual({ redriven: 1, failed: 0, errors: [] });
    expect(await stored(dlq)).toEqual([]);
    expect(supervisor.stats()).toMatchObject({ redrives: 1, redriveFailures: 0 });
    await supervisor.shutdown();
  });

  test("a message that was refused on the way in is redriven with a warning, since not all of it was kept", async () => {
    const { hub, supervisor, dlq } = await started();
    hub.publish("in", { subject: "s", payload: Buffer.from("a"), headers: { h: "x".repeat(70_000) } });
    await expect.poll(() => stored(dlq)).toHaveLength(1);
    await dlq.put(entryOf("whole", { bindingId: "", attempts: 1, errorCode: "INVALID_PAYLOAD" }), bound());
    const ids = await stored(dlq);
    const { warning, ...counts } = await supervisor.redrive(ids, bound());
    expect(counts).toEqual({ redriven: 2, failed: 0, errors: [] });
    expect(warning).toMatch(/^1 message was refused on the way in, and sent as kept/);
    await supervisor.shutdown();
  });

  test("spec 4.6.1: duplicate ids are one", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entryOf("e1"), bound());
    expect(await supervisor.redrive(["e1", "e1"], bound())).toMatchObject({ redriven: 1, failed: 0 });
    expect(hub.channel("out").arrived).toBe(1);
    await supervisor.shutdown();
  });

  test("spec 4.6.4: a replay goes to the binding that failed and to no other", async () => {
    const { hub, supervisor, dlq } = await started({ dispatchMode: "fan_out", bindings: ["a", "b"] });
    await dlq.put(entryOf("e1", { bindingId: "b" }), bound());
    await supervisor.redrive(["e1"], bound());
    expect([hub.channel("a").arrived, hub.channel("b").arrived]).toEqual([0, 1]);
    await supervisor.shutdown();
  });

  test("an entry without a binding replays the whole route", async () => {
    const { hub, supervisor, dlq } = await started({ dispatchMode: "fan_out", bindings: ["a", "b"] });
    await dlq.put(entryOf("e1", { bindingId: "" }), bound());
    await supervisor.redrive(["e1"], bound());
    expect([hub.channel("a").arrived, hub.channel("b").arrived]).toEqual([1, 1]);
    await supervisor.shutdown();
  });

  test("finding 7.7: the list names what a redriven message repeats, and how often it was redriven", async () => {
    const bridge = memoryBridge();
    const { supervisor, hub } = bridge;
    await supervisor.start(bound());
    const { dlq } = bridge;
    hub.channel("out").sends.failNext(Infinity, refusal);
    hub.publish("in", { id: "original" });
    await hub.channel("in").waitForSettlements(1, bound());
    const list = async () => dlq.list({}, { limit: 100, offset: 0 }, bound());
    for (let redrives = 1; redrives <= 3; redrives++) {
      const all = await list();
      const last = all.find((head) => (head.redrives ?? 0) === redrives - 1);
      await supervisor.redrive([last?.id ?? ""], bound());
    }
    const heads = (await list()).toSorted((a, b) => (a.redrives ?? 0) - (b.redrives ?? 0));
    expect(heads.map(({ redrives }) => redrives)).toEqual([undefined, 1, 2, 3]);
    const ids = await Promise.all(heads.map(async ({ id }) => (await dlq.get(id, bound()))?.envelope.id));
    expect(heads.map(({ causationId }) => causationId)).toEqual([undefined, ...ids.slice(0, 3)]);
    await supervisor.shutdown();
  });

  test("spec 4.6.5, 4.6.6: a fresh id, the causation id, no identity marker and no deduplication key; the rest is kept", async () => {
    const { hub, supervisor, dlq } = await started();
    const headers = {
      [RESERVED.generatedId]: "true",
      [RESERVED.dedupId]: "d1",
      [RESERVED.orderingKey]: "k1",
      device: "7",
    };
    await dlq.put(entryOf("e1", { envelope: envelopeOf({ id: "original", correlationId: "c1", headers }) }), bound());
    hub.channel("out").sends.failNext(1, refusal);
    const result = await supervisor.redrive(["e1"], bound());
    expect(result).toEqual({
      redriven: 0,
      failed: 1,
      errors: [{ id: "e1", error: "not delivered, dead_lettered: the target refused the message" }],
    });
    const ids = await stored(dlq);
    expect(ids).toHaveLength(2);
    const fresh = await dlq.get(ids.find((id) => id !== "e1") ?? "", bound());
    expect(fresh?.envelope.id).not.toBe("original");
    expect(fresh?.envelope.correlationId).toBe("c1");
    expect({ ...fresh?.envelope.headers }).toEqual({
      [RESERVED.causationId]: "original",
      [RESERVED.redrives]: "1",
      [RESERVED.orderingKey]: "k1",
      device: "7",
    });
    expect(supervisor.stats().redriveFailures).toBe(1);
    await supervisor.shutdown();
  });

  test("spec 4.6.6: dropped and expired replays are reported, and the entry is kept", async () => {
    const { hub, clock, supervisor, dlq } = await started({
      policy: { onPermanentFailure: "drop", onExpired: "drop" },
    });
    await dlq.put(entryOf("e1"), bound());
    await dlq.put(entryOf("e2", { envelope: envelopeOf({ expiresAt: clock.now() - 1 }) }), bound());
    hub.channel("out").sends.failNext(1, refusal);
    expect((await supervisor.redrive(["e1", "e2"], bound())).errors).toEqual([
      { id: "e1", error: "not delivered, dropped: the target refused the message" },
      { id: "e2", error: "not delivered, expired: the message's expiry had passed" },
    ]);
    expect(await stored(dlq)).toEqual(["e1", "e2"]);
    await supervisor.shutdown();
  });

  test("spec 4.6.8: a binding or route that is not configured any more fails the entry and keeps it", async () => {
    const { supervisor, dlq } = await started();
    await dlq.put(entryOf("e1", { bindingId: "gone" }), bound());
    await dlq.put(entryOf("e2", { routeId: "gone" }), bound());
    expect((await supervisor.redrive(["e1", "e2"], bound())).errors).toEqual([
      { id: "e1", error: "route or binding not found" },
      { id: "e2", error: "route or binding not found" },
    ]);
    expect(await stored(dlq)).toEqual(["e1", "e2"]);
    await supervisor.shutdown();
  });

  test("an unknown id is an error of that entry; errors come in the order of the request", async () => {
    const { supervisor, dlq } = await started();
    await dlq.put(entryOf("e1"), bound());
    expect(await supervisor.redrive(["x", "e1", "y"], bound())).toEqual({
      redriven: 1,
      failed: 2,
      errors: [
        { id: "x", error: "entry not found" },
        { id: "y", error: "entry not found" },
      ],
    });
    await supervisor.shutdown();
  });

  test("spec 4.6.10: one entry is in one redrive at a time", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entryOf("e1"), bound());
    const hold = hub.channel("out").sends.hold();
    const first = supervisor.redrive(["e1"], bound());
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    expect((await supervisor.redrive(["e1"], bound())).errors).toEqual([
      { id: "e1", error: "entry already redriven or concurrently deleted" },
    ]);
    hold[Symbol.dispose]();
    expect((await first).redriven).toBe(1);
    await supervisor.shutdown();
  });

  test("spec 4.6.10: an entry deleted by an operator while it was redriven is reported", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entryOf("e1"), bound());
    const hold = hub.channel("out").sends.hold();
    const redriven = supervisor.redrive(["e1"], bound());
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await dlq.admin?.delete(["e1"], bound());
    hold[Symbol.dispose]();
    expect((await redriven).errors).toEqual([{ id: "e1", error: "entry already redriven or concurrently deleted" }]);
    await supervisor.shutdown();
  });

  test("a delivery whose entry cannot be deleted counts as failed and says so", async () => {
    const inner = openMemoryDlq({ maxEntries: 10 });
    const dlq: DlqStore = {
      ...inner,
      admin: { ...inner.admin, delete: () => Promise.reject(new BridgeError("UNAVAILABLE", "disk gone")) },
    };
    const { supervisor } = await started({ dlq });
    await dlq.put(entryOf("e1"), bound());
    expect((await supervisor.redrive(["e1"], bound())).errors).toEqual([
      { id: "e1", error: "delivered, entry not deleted" },
    ]);
    await supervisor.shutdown();
  });

  test.each(["stop", "bound"] as const)(
    "cut off by a %s, what was not sent yet is not attempted: only what was is of unknown outcome",
    async (cut) => {
      const { hub, supervisor, dlq } = await started({
        policy: { maxReplayAttempts: 1, maxInFlight: 2 },
        drainTimeoutMs: 2_000,
        quiesceTimeoutMs: 200,
      });
      const ids = Array.from({ length: 20 }, (_, at) => `e${String(at).padStart(2, "0")}`);
      for (const id of ids) await dlq.put(entryOf(id), bound());
      const hold = hub.channel("out").sends.hold();
      const end = new AbortController();
      const redriven = supervisor.redrive(ids, end.signal);
      await hub.channel("out").until((channel) => channel.sends.held === 2, bound());
      if (cut === "stop") await supervisor.stop(bound());
      else end.abort(new Error("60 s are over"));
      const { errors } = await redriven;
      expect(errors.map((failure) => failure.error)).toEqual([
        ...Array.from({ length: 2 }, () => "outcome unknown"),
        ...Array.from({ length: 18 }, () => "not attempted"),
      ]);
      hold[Symbol.dispose]();
      expect(hub.channel("out").arrived).toBeLessThanOrEqual(2);
      await supervisor.shutdown();
    },
  );

  test("at the bound what is under way is of unknown outcome and what was not reached is not attempted; all is kept", async () => {
    const { hub, supervisor, dlq } = await started();
    const ids = Array.from({ length: 18 }, (_, at) => `e${String(at).padStart(2, "0")}`);
    for (const id of ids) await dlq.put(entryOf(id), bound());
    using _ = hub.channel("out").sends.hold();
    const stop = new AbortController();
    const redriven = supervisor.redrive(ids, stop.signal);
    await hub.channel("out").until((channel) => channel.sends.held === 16, bound());
    stop.abort(new Error("60 s are over"));
    const { errors } = await redriven;
    expect(errors.map((failure) => failure.error)).toEqual([
      ...Array.from({ length: 16 }, () => "outcome unknown"),
      "not attempted",
      "not attempted",
    ]);
    expect(await stored(dlq)).toHaveLength(18);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("entries of one ordering key go one after another, in the order of the request", async () => {
    const { hub, supervisor, dlq } = await started();
    const keyed = (id: string): DeadLetter =>
      entryOf(id, { subject: id, envelope: envelopeOf({ id, subject: id, headers: { [RESERVED.orderingKey]: "k" } }) });
    for (const id of ["c", "a", "b"]) await dlq.put(keyed(id), bound());
    await supervisor.redrive(["c", "a", "b"], bound());
    expect(
      hub
        .channel("out")
        .messages()
        .map((message) => message.subject),
    ).toEqual(["c", "a", "b"]);
    await supervisor.shutdown();
  });

  test("without a running runtime, and with a store that cannot delete, it is refused", async () => {
    const { admin: _, ...readOnly } = openMemoryDlq({ maxEntries: 1 });
    const { supervisor } = memoryBridge({ dlq: readOnly });
    await expect(supervisor.redrive(["e1"], bound())).rejects.toMatchObject({ kind: "unavailable" });
    await supervisor.start(bound());
    await expect(supervisor.redrive(["e1"], bound())).rejects.toMatchObject({
      kind: "not_found",
      message: "no DLQ admin store configured",
    });
    await supervisor.shutdown();
  });
});

describe("spec 4.6.7: a runtime without redrive-safe injection", () => {
  const store = openMemoryDlq({ maxEntries: 100 });
  const injected: string[] = [];
  const target: RedriveTarget = {
    inject: async (_route, message) => {
      injected.push(message.subject);
      return { envelopeId: "new", outcome: "delivered", failedBindings: [] };
    },
    deliveryMode: (routeId) => (routeId === "outboxed" ? "shared_outbox" : "direct_hold"),
  };
  const run = (ids: readonly string[]) =>
    redrive({
      ids,
      store,
      target,
      busy: new Set(),
      delivered: new DeliveredEntries(),
      clock: systemClock,
      logger: silentLogger,
      signal: bound(),
      mayBegin: () => true,
    });

  test.each([
    ["a binding-scoped entry", entryOf("bound", { bindingId: "out" })],
    ["an entry of a shared_outbox route", entryOf("outbox", { routeId: "outboxed", bindingId: "" })],
    ["a direct entry with an envelope id", entryOf("with-id", { bindingId: "" })],
    [
      "a direct entry with a deduplication key",
      entryOf("with-dedup", { bindingId: "", envelope: envelopeOf({ id: "", headers: { [RESERVED.dedupId]: "d" } }) }),
    ],
  ])("refuses %s before any inject, and keeps it", async (_, entry) => {
    await store.put(entry, bound());
    injected.length = 0;
    const result = await run([entry.id]);
    expect(result.errors[0]?.error).toMatch(/^refused: runtime lacks redrive-safe injection/);
    expect(result.warning).toBeUndefined();
    expect(injected).toEqual([]);
    expect(await store.get(entry.id, bound())).toBeDefined();
  });

  test("replays a direct entry without an id by a plain inject, with a warning", async () => {
    await store.put(entryOf("plain", { bindingId: "", envelope: envelopeOf({ id: "", subject: "plain" }) }), bound());
    const result = await run(["plain"]);
    expect(result).toMatchObject({ redriven: 1, failed: 0 });
    expect(result.warning).toMatch(/reuse the original envelope id.*deduplicated by the outbox.*verify/);
    expect(injected).toContain("plain");
    expect(await store.get("plain", bound())).toBeUndefined();
  });

  test("warns of both when the message was refused on the way in too", async () => {
    const refused = {
      bindingId: "",
      attempts: 0,
      errorCode: "INVALID_PAYLOAD",
      envelope: envelopeOf({ id: "" }),
    } as const;
    await store.put(entryOf("refused", refused), bound());
    const { warning } = await run(["refused"]);
    expect(warning).toMatch(/verify that the messages were delivered; 1 message was refused on the way in/);
  });
});

describe("inject", () => {
  test("tells that the message was delivered, under the id that it was given or a new one", async () => {
    const { hub, supervisor } = await started();
    expect(
      await supervisor.inject("r", { id: "m1", subject: "s", payload: new Uint8Array() }, { signal: bound() }),
    ).toEqual({
      envelopeId: "m1",
      outcome: "delivered",
      failedBindings: [],
    });
    const fresh = await supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() });
    expect(fresh.envelopeId).toMatch(/^generated-/);
    expect(hub.channel("out").arrived).toBe(2);
    expect(supervisor.stats().legs[0]).toMatchObject({ received: 0, injected: 2 });
    await supervisor.shutdown();
  });

  test("tells why it was not delivered, and which bindings failed", async () => {
    const { hub, supervisor } = await started({ dispatchMode: "fan_out", bindings: ["a", "b"] });
    hub.channel("b").sends.failNext(1, refusal);
    expect(
      await supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() }),
    ).toMatchObject({
      outcome: "dead_lettered",
      failedBindings: ["b"],
      error: { code: "REJECTED" },
    });
    await supervisor.shutdown();
  });

  test("an unknown route, and a bridge that does not run, are refused", async () => {
    const { supervisor } = await started();
    const message = { subject: "s", payload: new Uint8Array() };
    await expect(supervisor.inject("nowhere", message, { signal: bound() })).rejects.toMatchObject({
      kind: "not_found",
      message: 'route not found: "nowhere"; configured are "r"',
    });
    await supervisor.stop(bound());
    await expect(supervisor.inject("r", message, { signal: bound() })).rejects.toMatchObject({
      kind: "unavailable",
      message: "runtime not available",
    });
    await supervisor.shutdown();
  });

  test("at the caller's bound the work is cancelled: nothing is charged, dropped or dead-lettered", async () => {
    const { hub, supervisor, dlq } = await started();
    using _ = hub.channel("out").sends.hold();
    const stop = new AbortController();
    const injected = supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: stop.signal });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    stop.abort(new Error("30 s are over"));
    await expect(injected).rejects.toThrow("30 s are over");
    await turn();
    expect(await stored(dlq)).toEqual([]);
    expect(supervisor.stats().legs[0]).toMatchObject({ inFlight: 0, dispositions: { abandoned: 1 } });
    await supervisor.shutdown();
  });

  test("takes a slot of the route", async () => {
    const { hub, clock, supervisor } = await started({ policy: { maxInFlight: 1, maxReplayAttempts: 5 } });
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
    const injected = supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() });
    await turn();
    expect(supervisor.stats().legs[0]?.injected).toBe(0);
    await clock.until(() => hub.channel("in").accepted === 1);
    expect((await injected).outcome).toBe("delivered");
    await supervisor.shutdown();
  });
});
