import { type DeadLetter, type DlqStore, type Processor, BridgeError } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import { INGRESS_LIMITS } from "../../src/index.ts";
import { turn } from "../support/fake-clock.ts";
import { bound, memoryBridge, outage, refusal } from "../support/memory-bridge.ts";

const page = { limit: 100, offset: 0 };
const text = (payload: Uint8Array | undefined): string => new TextDecoder().decode(payload);

async function entries(dlq: DlqStore): Promise<readonly DeadLetter[]> {
  const heads = await dlq.list({}, page, bound());
  const found = await Promise.all(heads.map((head) => dlq.get(head.id, bound())));
  return found.filter((entry) => entry !== undefined);
}

describe("direct_hold: the source is settled after the proof", () => {
  test("a message reaches its target, then the source is told delivered", async () => {
    const { hub, supervisor } = memoryBridge();
    await supervisor.start(bound());
    using hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1", payload: "hello" });
    await hub.channel("in").until((channel) => channel.unsettled === 1, bound());
    await turn();
    expect(hub.channel("in").accepted).toBe(0);
    hold[Symbol.dispose]();
    const [settled] = await hub.channel("in").waitForSettlements(1, bound());
    expect(settled?.settlement).toEqual({ kind: "accept", outcome: "delivered", envelopeId: "m1" });
    expect(text(hub.channel("out").messages()[0]?.payload)).toBe("hello");
    await supervisor.shutdown();
  });

  test("never more than max_in_flight deliveries are unsettled", async () => {
    const { hub, supervisor } = memoryBridge({ policy: { maxInFlight: 3 } });
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    for (let at = 0; at < 10; at++) hub.publish("in", { id: `m${at}` });
    await hub.channel("out").until((channel) => channel.sends.held === 3, bound());
    await turn();
    expect(hub.channel("in").unsettled).toBe(3);
    expect(supervisor.stats().routes[0]?.inFlight).toBe(3);
    hold[Symbol.dispose]();
    await hub.channel("in").waitForSettlements(10, bound());
    await supervisor.shutdown();
  });

  test("spec 1.2: a transient error is retried with exponential backoff up to the cap, then dead-lettered", async () => {
    const bridge = memoryBridge({ policy: { maxReplayAttempts: 3 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", { id: "m1", subject: "a/b", correlationId: "c1", payload: "x" });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
    await clock.advance(900);
    expect(supervisor.stats().legs[0]?.attempts).toBe(1);
    await clock.advance(200);
    expect(supervisor.stats().legs[0]?.attempts).toBe(2);
    await clock.advance(2_000);
    const [settled] = await hub.channel("in").waitForSettlements(1, bound());
    expect(settled?.settlement).toMatchObject({ kind: "accept", outcome: "dead_lettered" });
    expect(await entries(bridge.dlq)).toMatchObject([
      {
        routeId: "r",
        bindingId: "out",
        sourceId: "in",
        correlationId: "c1",
        subject: "a/b",
        category: "transient",
        errorCode: "UNAVAILABLE",
        lastError: "the target is away",
        attempts: 3,
        envelope: { id: "m1" },
      },
    ]);
    await supervisor.shutdown();
  });

  test("a transient error that passes is delivered, and its attempts are forgotten", async () => {
    const { hub, clock, supervisor } = memoryBridge();
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(2, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: 3, dispositions: { delivered: 1 } });
    await supervisor.shutdown();
  });

  test("spec 1.2: a rejected error follows on_permanent_failure at once; drop discards and is counted", async () => {
    const { hub, supervisor } = memoryBridge({ policy: { onPermanentFailure: "drop" } });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    const [settled] = await hub.channel("in").waitForSettlements(1, bound());
    expect(settled?.settlement).toMatchObject({ kind: "accept", outcome: "dropped" });
    expect(supervisor.stats().legs[0]?.dispositions.dropped).toBe(1);
    await supervisor.shutdown();
  });

  test("spec 3.5: a message later than its expiry is never sent and follows on_expired", async () => {
    const bridge = memoryBridge();
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1", expiresAt: clock.now() - 1 });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(hub.channel("out").arrived).toBe(0);
    expect(await entries(bridge.dlq)).toMatchObject([
      { category: "expired", errorCode: "MESSAGE_EXPIRED", attempts: 0 },
    ]);
    await supervisor.shutdown();
  });

  test("a message that expires while it waits for a retry is not sent again; on_expired drop counts it as expired", async () => {
    const { hub, clock, supervisor } = memoryBridge({ policy: { onExpired: "drop" } });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1", expiresAt: clock.now() + 500 });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(hub.channel("out").arrived).toBe(0);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: 1, dispositions: { expired: 1 } });
    await supervisor.shutdown();
  });

  test("an undecodable message goes to the DLQ as rejected, with its raw bytes", async () => {
    const bridge = memoryBridge();
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("in").publish({ payload: new Uint8Array([0xff, 0x00]) }, new BridgeError("INTERNAL", "no such codec"));
    await hub.channel("in").waitForSettlements(1, bound());
    const [entry] = await entries(bridge.dlq);
    expect(entry).toMatchObject({ category: "rejected", errorCode: "INVALID_PAYLOAD", bindingId: "" });
    expect([...(entry?.envelope.payload ?? [])]).toEqual([0xff, 0x00]);
    await supervisor.shutdown();
  });

  test("a send that the target never answers fails with TIMEOUT after send_timeout", async () => {
    const bridge = memoryBridge({ policy: { maxReplayAttempts: 1, sendTimeoutMs: 2_000 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    using _ = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(await entries(bridge.dlq)).toMatchObject([{ errorCode: "TIMEOUT", attempts: 1 }]);
    await supervisor.shutdown();
  });
});

describe("a DLQ write that fails", () => {
  test("leaves the message unsettled, is tried again, is not charged, and shows in readiness", async () => {
    const inner = openMemoryDlq({ maxEntries: 10 });
    let failing = true;
    const dlq: DlqStore = {
      ...inner,
      put: async (entry, signal) => {
        if (failing) throw new BridgeError("UNAVAILABLE", "disk full");
        await inner.put(entry, signal);
      },
    };
    const { hub, clock, supervisor } = memoryBridge({ dlq });
    await supervisor.start(bound());
    expect(supervisor.view().level).toBe("full");
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    await clock.until(() => (supervisor.stats().routes[0]?.dlqWriteFailures ?? 0) > 2);
    expect(hub.channel("in").accepted).toBe(0);
    expect(supervisor.view()).toMatchObject({ level: "subscribed", health: "ok" });
    failing = false;
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.view().level).toBe("full");
    expect(await entries(inner)).toMatchObject([{ attempts: 1 }]);
    await supervisor.shutdown();
  });
});

describe("spec 1.3: how attempts are counted", () => {
  test("a native receive count drives the cap; the source is asked to hand the message out again", async () => {
    const bridge = memoryBridge({ counts: true, releasable: true, policy: { maxReplayAttempts: 3 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(hub.channel("in").released).toBe(2);
    expect(await entries(bridge.dlq)).toMatchObject([{ attempts: 3 }]);
    await supervisor.shutdown();
  });

  test("without one the ledger carries the count across redeliveries of a message with a stable identity", async () => {
    const bridge = memoryBridge({ releasable: true, policy: { maxReplayAttempts: 3 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: 3, dispositions: { released: 2, dead_lettered: 1 } });
    await supervisor.shutdown();
  });

  test("a message without a stable identity gets its full budget inside its held delivery", async () => {
    const { hub, clock, supervisor } = memoryBridge({ policy: { maxReplayAttempts: 3 } });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", {});
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.stats().legs[0]?.attempts).toBe(3);
    await supervisor.shutdown();
  });

  test("a message that nobody would recognise is held, though its source would take it back", async () => {
    const bridge = memoryBridge({ releasable: true, policy: { maxReplayAttempts: 3 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", {});
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(hub.channel("in").released).toBe(0);
    expect(await entries(bridge.dlq)).toMatchObject([{ attempts: 3 }]);
    await supervisor.shutdown();
  });

  test("contract §5: the age of what goes back to a source that counts is counted on, unless nobody would recognise it", async () => {
    for (const [id, given] of [
      ["m1", true],
      [undefined, false],
    ] as const) {
      const policy = { maxReplayAttempts: 2, replayBudgetMs: 20_000 };
      const bridge = memoryBridge({ counts: true, releasable: true, policy });
      const { hub, clock, supervisor } = bridge;
      await supervisor.start(bound());
      hub.channel("out").sends.failNext(Infinity, outage);
      const begun = clock.monotonic();
      hub.publish("in", id === undefined ? {} : { id });
      await clock.until(() => hub.channel("in").accepted === 1);
      expect(clock.monotonic() - begun).toBeGreaterThanOrEqual(policy.replayBudgetMs);
      expect(hub.channel("in").released > 0).toBe(given);
      const [entry] = await entries(bridge.dlq);
      expect(entry?.attempts).toBeGreaterThan(policy.maxReplayAttempts);
      await supervisor.shutdown();
    }
  });

  test("contract §5: what comes for the first time is not as old as another message of its id", async () => {
    const policy = { maxReplayAttempts: 1, replayBudgetMs: 500 };
    const { hub, clock, supervisor } = memoryBridge({ counts: true, releasable: true, policy });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(Infinity, outage);
    for (const released of [1, 2]) {
      hub.publish("in", { id: "m1" });
      await clock.advance(10);
      expect([hub.channel("in").released, hub.channel("in").accepted]).toEqual([released, 0]);
      await clock.advance(590);
    }
    await supervisor.shutdown();
  });

  test("while a binding's session is down its legs wait and are not charged", async () => {
    const { hub, clock, supervisor } = memoryBridge({ session: true, policy: { maxReplayAttempts: 1 } });
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    hub.link("s", "target").down();
    await clock.until(() => supervisor.view().level === "running");
    hub.publish("in", { id: "m1" });
    await clock.advance(120_000);
    expect(hub.channel("in").unsettled).toBe(1);
    expect(supervisor.stats().legs[0]?.attempts).toBe(0);
    hub.link("s", "target").up();
    await clock.until(() => hub.channel("out").arrived === 1, 100);
    expect(supervisor.stats().legs[0]?.dispositions.delivered).toBe(1);
    await supervisor.shutdown();
  });
});

describe("fan_out", () => {
  test("sends to every binding; a leg that was delivered is not sent again while another is retried", async () => {
    const { hub, clock, supervisor } = memoryBridge({
      dispatchMode: "fan_out",
      bindings: ["a", "b"],
      releasable: true,
    });
    await supervisor.start(bound());
    hub.channel("b").sends.failNext(2, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect([hub.channel("a").arrived, hub.channel("b").arrived]).toEqual([1, 1]);
    expect(hub.channel("in").released).toBe(0);
    await supervisor.shutdown();
  });

  test("a leg that fails follows the policy with its binding on the entry; the others are untouched", async () => {
    const bridge = memoryBridge({ dispatchMode: "fan_out", bindings: ["a", "b", "c"] });
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("b").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    const [settled] = await hub.channel("in").waitForSettlements(1, bound());
    expect(settled?.settlement).toMatchObject({ kind: "accept", outcome: "dead_lettered" });
    expect(await entries(bridge.dlq)).toMatchObject([{ bindingId: "b", errorCode: "REJECTED" }]);
    expect([hub.channel("a").arrived, hub.channel("c").arrived]).toEqual([1, 1]);
    await supervisor.shutdown();
  });
});

describe("resolution", () => {
  test("no rule and no default is BINDING_UNRESOLVED, without a binding on the entry", async () => {
    const bridge = memoryBridge({ resolver: { type: "rules", rules: [], defaultBindings: [] } });
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(await entries(bridge.dlq)).toMatchObject([
      { bindingId: "", errorCode: "BINDING_UNRESOLVED", category: "permanent" },
    ]);
    await supervisor.shutdown();
  });

  test("an address whose header is missing is BINDING_UNRESOLVED, and no attempt: nothing was sent", async () => {
    const bridge = memoryBridge({
      config: (config) => ({
        ...config,
        bindings: config.bindings.map((binding) => ({ ...binding, address: "out/{device}" })),
      }),
    });
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(await entries(bridge.dlq)).toMatchObject([
      { bindingId: "out", errorCode: "BINDING_UNRESOLVED", attempts: 0 },
    ]);
    await supervisor.shutdown();
  });
});

describe("ordering keys", () => {
  test("deliveries of one key run one after another; a retry never lets a younger one overtake", async () => {
    const { hub, clock, supervisor } = memoryBridge({ releasable: true });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    for (const [id, orderingKey] of [
      ["a1", "a"],
      ["a2", "a"],
      ["b1", "b"],
      ["a3", "a"],
    ] as const) {
      hub.publish("in", { id, orderingKey });
    }
    await clock.until(() => hub.channel("in").accepted === 4);
    expect(hub.channel("in").released).toBe(0);
    const ids = hub
      .channel("out")
      .messages()
      .map((message) => message.id);
    expect(ids.filter((id) => id?.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(ids[0]).toBe("b1");
    await supervisor.shutdown();
  });
});

describe("processors", () => {
  const rename: Processor = {
    process: (envelope) => ({ kind: "pass", envelope: { ...envelope, payload: new TextEncoder().encode("changed") } }),
  };

  test("change what is sent; a dead letter keeps the message as it was received", async () => {
    const bridge = memoryBridge({ processors: [rename] });
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1", payload: "original" });
    const [sent] = await hub.channel("out").waitForMessages(1, bound());
    expect(text(sent?.payload)).toBe("changed");
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m2", payload: "original" });
    await hub.channel("in").waitForSettlements(2, bound());
    expect(text((await entries(bridge.dlq))[0]?.envelope.payload)).toBe("original");
    await supervisor.shutdown();
  });

  test("a filter settles without delivering, by on_filtered", async () => {
    const filter: Processor = { process: () => ({ kind: "filter", reason: "not an alarm" }) };
    const { hub, supervisor } = memoryBridge({ processors: [filter] });
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    const [settled] = await hub.channel("in").waitForSettlements(1, bound());
    expect(settled?.settlement).toMatchObject({ outcome: "filtered" });

    const kept = memoryBridge({ processors: [filter], policy: { onFiltered: "dlq" } });
    await kept.supervisor.start(bound());
    kept.hub.publish("in", { id: "m1" });
    await kept.hub.channel("in").waitForSettlements(1, bound());
    expect(await entries(kept.dlq)).toMatchObject([{ category: "filtered", lastError: "processor p0: not an alarm" }]);
    await Promise.all([supervisor.shutdown(), kept.supervisor.shutdown()]);
  });

  test("one that throws is retried as INTERNAL, then fails the message by policy with its name on the entry", async () => {
    const broken: Processor = {
      process: () => {
        throw new Error("boom");
      },
    };
    const bridge = memoryBridge({ processors: [broken], policy: { maxReplayAttempts: 2 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(await entries(bridge.dlq)).toMatchObject([
      { errorCode: "INTERNAL", attempts: 2, lastError: "processor p0: boom" },
    ]);
    await supervisor.shutdown();
  });
});

describe("processors that have a say before each send", () => {
  test("a refused send is not tried and, when it says so, not charged; those who let it through hear how it ended", async () => {
    const heard: string[] = [];
    let open = false;
    const breaker: Processor = {
      process: (envelope) => ({ kind: "pass", envelope }),
      admit: (_envelope, bindingId) =>
        open
          ? { kind: "admitted", ended: ({ kind }) => void heard.push(`${bindingId} ${kind}`) }
          : {
              kind: "refused",
              error: new BridgeError("UNAVAILABLE", "circuit open", { charged: false, retryAfterMs: 5_000 }),
            },
    };
    const sources = { counts: true, releasable: true };
    const bridge = memoryBridge({ ...sources, processors: [breaker], policy: { maxReplayAttempts: 2 } });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1" });
    await clock.advance(60_000);
    expect(hub.channel("in").released).toBe(0);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: 0, inFlight: 1 });
    open = true;
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(heard).toEqual(["out failed", "out accepted"]);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: 2, dispositions: { delivered: 1 } });
    await supervisor.shutdown();
  });

  test("what a processor passes on keeps within what may come in, with an id and names in lower case", async () => {
    const long = "x".repeat(INGRESS_LIMITS.subjectLength + 1);
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`h${at}`, ""]));
    for (const [change, why] of [
      [{ id: "" }, "id of the envelope is empty"],
      [{ id: long }, "id of the envelope is above the limit of 1024"],
      [{ correlationId: long }, "correlationId of the envelope is above the limit of 1024"],
      [{ subject: long }, "subject of the envelope is above the limit of 65536"],
      [{ headers: many }, "the number of headers of the envelope is above the limit"],
      [{ headers: { a: `${long}${long}` } }, "the size of all headers of the envelope is above the limit"],
      [{ subject: "cut \ud83d" }, "half a character (a lone surrogate) stands in subject of the message"],
      [{ headers: { a: "\ude00" } }, 'half a character (a lone surrogate) stands in header "a" of the message'],
      [{ headers: { UPPER: "1" } }, undefined],
    ] as const) {
      const changes: Processor = { process: (envelope) => ({ kind: "pass", envelope: { ...envelope, ...change } }) };
      const bridge = memoryBridge({ processors: [changes], policy: { maxReplayAttempts: 1 } });
      const { hub, supervisor } = bridge;
      await supervisor.start(bound());
      hub.publish("in", { id: "m1" });
      await hub.channel("in").waitForSettlements(1, bound());
      const [entry] = await entries(bridge.dlq);
      if (why !== undefined) expect(entry?.lastError).toContain(`processor p0: ${why}`);
      else expect(hub.channel("out").drain()).toMatchObject([{ headers: { upper: "1" } }]);
      await supervisor.shutdown();
    }
  });

  test("garbage in place of a result fails the message by policy, with the processor's name", async () => {
    for (const [garbage, why] of [
      [undefined, "did not answer with a result"],
      [5, "did not answer with a result"],
      [{}, "did not answer with a result"],
      [{ kind: "filter" }, "did not answer with a result"],
      [{ kind: "pass" }, "the envelope is missing"],
      [{ kind: "pass", envelope: { id: 1 } }, "id of the envelope is a number, not text"],
    ] as const) {
      const broken: Processor = { process: () => garbage as never };
      const bridge = memoryBridge({ processors: [broken], policy: { maxReplayAttempts: 1 } });
      await bridge.supervisor.start(bound());
      bridge.hub.publish("in", { id: "m1" });
      await bridge.hub.channel("in").waitForSettlements(1, bound());
      expect(await entries(bridge.dlq)).toMatchObject([{ errorCode: "INTERNAL", lastError: `processor p0: ${why}` }]);
      await bridge.supervisor.shutdown();
    }
  });
});

describe("cancellation never settles, drops, dead-letters or charges", () => {
  test("a delivery that its source takes back is abandoned and comes again", async () => {
    const { hub, clock, supervisor } = memoryBridge({ session: true, policy: { maxReplayAttempts: 2 } });
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    hub.link("s", "source").cut();
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.abandoned === 1);
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(hub.channel("in").handedOut).toBe(2);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("a settlement that comes too late is counted, and the redelivery is handled as any other", async () => {
    const { hub, clock, supervisor } = memoryBridge();
    await supervisor.start(bound());
    hub.channel("in").settles.failNext(1, new BridgeError("CONNECTION_LOST", "too late"));
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.stats().routes[0]?.settleFailures).toBe(1);
    expect(hub.channel("out").arrived).toBe(2);
    await supervisor.shutdown();
  });
});

describe("a source that is lost", () => {
  test("is asked again with backoff; meanwhile the level is below full", async () => {
    const { hub, clock, supervisor } = memoryBridge();
    await supervisor.start(bound());
    hub.channel("in").interrupt(new BridgeError("CONNECTION_LOST", "gone"));
    await turn();
    await turn();
    expect(supervisor.view().level).toBe("subscribed");
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1, 100);
    expect(supervisor.view()).toMatchObject({ level: "full", health: "ok" });
    await supervisor.shutdown();
  });

  test("finding 1.3: for a reason that nobody foresaw is asked again like any other", async () => {
    const { hub, clock, supervisor } = memoryBridge();
    await supervisor.start(bound());
    hub.channel("in").interrupt(new TypeError("x is not a function") as unknown as BridgeError);
    await clock.until(() => supervisor.view().level === "subscribed");
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1, 100);
    expect(supervisor.view()).toMatchObject({ level: "full", health: "ok", failures: [] });
    await supervisor.shutdown();
  });
});
