import { openMemoryOutbox } from "@bridge/memory";
import { systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { level, numbersOut, pair, type Pair, POLL_MS, publish, role, STEP_MS, TTL_MS } from "./pair.ts";

/** Two instances with one outbox: both accept messages, under a lease of the target alone. */
async function pairThatAccepts(): Promise<Pair> {
  const [clock, random] = [new FakeClock(), systemRandom()];
  const outbox = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random });
  return pair({
    clock,
    deliveryMode: "shared_outbox",
    outbox: { ...outbox, async [Symbol.asyncDispose]() {} },
    config: (config) => ({
      ...config,
      receivers: config.receivers.map((part) => ({ ...part, sessionId: undefined })),
    }),
  });
}

describe("spec 2.1, 3.2.3: roles of two instances on one exclusive session", () => {
  test("one is active and carries messages, the other is a standby, subscribed and not connected", async () => {
    await using stage = await pair();
    const { hub, a, b } = stage;
    expect([role(a), role(b)]).toEqual(["active", "standby"]);
    expect(a.supervisor.view().sessions).toMatchObject([{ connected: true, hasLease: true, ready: true }]);
    expect(b.supervisor.view().sessions).toMatchObject([{ connected: false, hasLease: false, ready: false }]);
    expect(b.supervisor.view().health).toBe("ok");
    expect(hub.link("plant-b s", "source").connections).toBe(0);
    publish(hub, 0, 10);
    await hub.channel("in").waitForSettlements(10, bound());
    expect(b.supervisor.stats().legs.reduce((sum, leg) => sum + leg.received, 0)).toBe(0);
  });

  test("a standby refuses what it could not send, and says who can", async () => {
    await using stage = await pair();
    const refused = stage.b.supervisor.inject("r", { subject: "a", payload: new Uint8Array() }, { signal: bound() });
    await expect(refused).rejects.toMatchObject({ kind: "unavailable" });
    await expect(refused).rejects.toThrow("does not hold the lease of session s");
  });

  test("alone it is active; without exclusive sessions it is standalone", async () => {
    await using stage = await pair();
    await stage.b.supervisor.shutdown();
    expect(role(stage.a)).toBe("active");
    const plain = memoryBridge({ session: true });
    expect(plain.supervisor.view().role).toBe("standalone");
  });
});

describe("taking over", () => {
  test("from one that is cut off: within ttl and two looks; nothing is lost, repeated needlessly or overtaken", async () => {
    await using stage = await pair();
    const { hub, clock, a, b } = stage;
    publish(hub, 0, 300);
    await hub.channel("in").waitForSettlements(300, bound());
    expect(numbersOut(hub)).toHaveLength(300);

    // From here on the target keeps it waiting, and then its store is gone.
    const hold = hub.channel("out").sends.hold();
    publish(hub, 300, 600);
    await hub.channel("out").until((channel) => channel.sends.held > 0, bound());
    a.reach.cut = true;
    const cutAt = clock.now();
    await clock.until(() => role(a) === "standby", STEP_MS);
    expect(clock.now() - cutAt).toBeLessThanOrEqual((TTL_MS * 3) / 4 + 100);
    expect(hub.link("plant-a s", "source").connections).toBe(1);
    expect(role(b)).toBe("standby");
    hold[Symbol.dispose]();
    await clock.until(() => level(b) === "full", STEP_MS);
    expect(clock.now() - cutAt).toBeLessThanOrEqual(TTL_MS + 2 * POLL_MS + 1_000);
    await hub.channel("in").waitForSettlements(600, bound());
    const after = numbersOut(hub);
    for (const key of [0, 1, 2]) {
      const ofKey = after.filter((n) => n % 3 === key);
      expect(ofKey).toEqual(ofKey.toSorted((x, y) => x - y));
    }
    expect(after.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 300 }, (_, i) => 300 + i));
    for (const { supervisor } of [a, b]) expect(supervisor.stats().unaccounted).toBe(0);
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 1 }]);
    expect(b.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 0 }]);
    await clock.until(() => a.supervisor.state().kind === "terminal", 100);
    expect(a.supervisor.state()).toMatchObject({ cause: "lease_lost" });
    await expect(a.supervisor.terminated).resolves.toMatchObject({ cause: "lease_lost" });
  });

  test("one that loses its lease for good amid a change brings nothing of that to work any more", async () => {
    await using stage = await pairThatAccepts();
    const { hub, clock, a } = stage;
    const [receiver, route] = [a.config.receivers[0], a.config.routes[0]];
    if (receiver === undefined || route === undefined) throw new Error("nothing to begin with");
    const second = { ...receiver, id: "second", options: { ...(receiver.options as object), channel: "second" } };
    const next = {
      ...a.config,
      receivers: [...a.config.receivers, second],
      routes: [...a.config.routes, { ...route, id: "second", receiverId: "second" }],
    };
    const hold = hub.channel("second").opens.hold();
    const applied = a.supervisor.apply(next, new AbortController().signal);
    await hub.channel("second").until(({ opens }) => opens.held === 1, bound());
    a.reach.cut = true;
    await clock.until(() => a.supervisor.state().kind === "terminal", 100);
    hold[Symbol.dispose]();
    await expect(applied).resolves.toBe("accepted");
    hub.publish("second", { payload: "1" });
    await clock.advance(STEP_MS);
    expect(hub.channel("second").handedOut).toBe(0);
  });

  test("spec 3.1: an admin stop releases the lease; the other takes over at its next look; start waits for its turn", async () => {
    await using stage = await pair();
    const { hub, clock, a, b } = stage;
    await a.supervisor.stop(bound());
    const stoppedAt = clock.now();
    await clock.until(() => level(b) === "full", STEP_MS);
    expect(clock.now() - stoppedAt).toBeLessThanOrEqual(POLL_MS + 100);
    publish(hub, 0, 5);
    await hub.channel("in").waitForSettlements(5, bound());
    await a.supervisor.start(bound());
    await clock.until(() => level(a) === "subscribed");
    await clock.advance(5 * TTL_MS);
    expect([role(a), role(b)]).toEqual(["standby", "active"]);
    await b.supervisor.stop(bound());
    await clock.until(() => level(a) === "full");
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 2, losses: 0 }]);
  });

  test("a standby that cannot reach its store stays a standby, and is not ready to take over", async () => {
    await using stage = await pair();
    const { clock, a, b } = stage;
    b.reach.cut = true;
    await clock.advance(10 * TTL_MS);
    expect([role(a), role(b), level(b)]).toEqual(["active", "standby", "running"]);
    expect(b.supervisor.view().health).toBe("ok");
    b.reach.cut = false;
    await clock.until(() => level(b) === "subscribed");
  });

  test("what was sent while the event loop was held up past the ttl is not settled", async () => {
    await using stage = await pair();
    const { hub, clock, a } = stage;
    const hold = hub.channel("out").sends.hold();
    publish(hub, 0, 1);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    clock.skip(2 * TTL_MS);
    // The answer is what comes first, before any timer.
    hold[Symbol.dispose]();
    await hub.channel("in").waitForSettlements(1, bound());
    // The source has heard of the second delivery, which came under the next term.
    expect(hub.channel("out").arrived).toBe(2);
    expect(hub.channel("in").handedOut).toBe(2);
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 2, losses: 1 }]);
    expect(a.supervisor.stats().unaccounted).toBe(0);
    await clock.advance(TTL_MS);
    expect(level(a)).toBe("full");
  });
});

describe("an exclusive target", () => {
  test("in shared_outbox both instances accept, and only the holder of the lease sends", async () => {
    await using stage = await pairThatAccepts();
    const { hub, a, b } = stage;
    publish(hub, 0, 40);
    await hub.channel("in").waitForSettlements(40, bound());
    await hub.channel("out").until((channel) => channel.arrived === 40, bound());
    const attempts = [a, b].map(({ supervisor }) =>
      supervisor.stats().legs.reduce((sum, leg) => sum + leg.attempts, 0),
    );
    expect(attempts).toEqual([40, 0]);
  });

  test("in direct_hold a standby takes nothing from its source, which others may want", async () => {
    await using stage = await pair({
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((part) => ({ ...part, sessionId: undefined })),
      }),
    });
    const { hub, clock, b } = stage;
    publish(hub, 0, 100);
    await hub.channel("in").waitForSettlements(100, bound());
    await clock.advance(1_000);
    expect(b.supervisor.stats().legs.reduce((sum, leg) => sum + leg.received, 0)).toBe(0);
  });
});
