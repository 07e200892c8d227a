import { describe, expect, test } from "vitest";
import type { OperationError } from "../../src/operation-error.ts";
import { bound } from "../support/memory-bridge.ts";
import { level, numbersOut, type Pair, pair, POLL_MS, publish, role, TTL_MS } from "./pair.ts";

/** When an instance without its broker lets another have the lease, at the latest. */
const YIELDED_MS = 3.25 * TTL_MS + 2 * POLL_MS;

/** Cuts instance `plant-a` off from the broker of its session, or joins it again. */
function reach(hub: Pair["hub"], reaches: boolean): void {
  for (const half of ["source", "target"] as const) {
    const link = hub.link("plant-a s", half);
    if (reaches) link.up();
    else link.down();
  }
}

function unsettledIn({ hub }: Pair): number {
  return hub.channel("in").unsettled;
}

describe("finding 6.8: an instance that loses its broker and not its lease store", () => {
  test("lets the other take over, is a standby without fault from then on, and takes over when it has to", async () => {
    await using stage = await pair();
    const { hub, clock, a, b } = stage;
    publish(hub, 0, 50);
    await hub.channel("in").waitForSettlements(50, bound());
    reach(hub, false);
    publish(hub, 50, 100);
    const cutAt = clock.now();
    await clock.until(() => level(b) === "full");
    expect(clock.now() - cutAt).toBeLessThanOrEqual(YIELDED_MS);
    await hub.channel("in").waitForSettlements(100, bound());
    expect(new Set(numbersOut(hub)).size).toBe(100);
    await clock.until(() => level(a) === "subscribed");
    expect([role(a), a.supervisor.view().health]).toEqual(["standby", "ok"]);
    expect(a.supervisor.state().kind).toBe("running");
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, yields: 1, losses: 0 }]);
    reach(hub, true);
    await clock.advance(5 * TTL_MS);
    expect([role(a), role(b)]).toEqual(["standby", "active"]);
    await b.supervisor.stop(bound());
    await clock.until(() => level(a) === "full");
    publish(hub, 100, 120);
    await hub.channel("in").waitForSettlements(120, bound());
    for (const { supervisor } of [a, b]) expect(supervisor.stats().unaccounted).toBe(0);
  });

  test("gives back what it holds for an exclusive target when the other has it, once, and takes nothing more", async () => {
    await using stage = await pair({
      config: (config) => ({
        ...config,
        sessions: [...config.sessions, { id: "shared", transport: "memory", sessionMode: "persistent", options: {} }],
        receivers: config.receivers.map((part) => ({ ...part, sessionId: "shared" })),
      }),
    });
    const { hub, clock, a, b } = stage;
    reach(hub, false);
    publish(hub, 0, 5);
    await hub.channel("in").until((channel) => channel.unsettled === 5, bound());
    await clock.advance(2 * TTL_MS);
    expect([unsettledIn(stage), hub.channel("in").handedOut]).toEqual([5, 5]);
    await clock.until(() => level(b) === "full");
    // From when it has seen that.
    await clock.until(() => hub.channel("in").accepted === 5, POLL_MS, 3);
    publish(hub, 5, 105);
    await hub.channel("in").waitForSettlements(105, bound());
    expect(numbersOut(hub).toSorted((x, y) => x - y)).toEqual(Array.from({ length: 105 }, (_, i) => i));
    const received = (): number => a.supervisor.stats().legs.reduce((sum, leg) => sum + leg.received, 0);
    expect(received()).toBe(5);
    await clock.advance(5 * TTL_MS);
    expect(hub.link("plant-a shared", "source").connections).toBe(2);
    for (const { supervisor } of [a, b]) expect(supervisor.stats().unaccounted).toBe(0);
  });

  test("alone it keeps what it holds for an exclusive target, because nobody else can send it", async () => {
    await using stage = await pair({
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((part) => ({ ...part, sessionId: undefined })),
      }),
    });
    const { hub, clock, a, b } = stage;
    await b.supervisor.shutdown();
    reach(hub, false);
    publish(hub, 0, 5);
    await hub.channel("in").until((channel) => channel.unsettled === 5, bound());
    await clock.until(() => a.supervisor.stats().leases[0]?.yields === 1);
    await clock.until(() => role(a) === "active");
    reach(hub, true);
    await clock.until(() => hub.channel("in").accepted === 5);
    expect(hub.channel("in").handedOut).toBe(5);
  });

  test("what operators have injected is given up when the other takes over, also what waits for room", async () => {
    await using stage = await pair({ policy: { sendTimeoutMs: TTL_MS / 2, maxInFlight: 1 } });
    const { hub, clock, a, b } = stage;
    reach(hub, false);
    const told = ["under way", "waits"].map((subject) =>
      a.supervisor.inject("r", { subject, payload: new Uint8Array() }, { signal: bound() }).then(
        ({ outcome }) => outcome,
        ({ kind }: OperationError) => kind,
      ),
    );
    await clock.until(() => level(b) === "full");
    let answers: readonly string[] | undefined;
    void Promise.all(told).then((all) => (answers = all));
    await clock.until(() => answers !== undefined);
    expect(answers).toEqual(["failed", "unavailable"]);
    await clock.advance(5 * TTL_MS);
    for (const { supervisor } of [a, b]) expect(supervisor.stats()).toMatchObject({ unaccounted: 0 });
    expect(a.supervisor.stats().routes).toMatchObject([{ inFlight: 0 }]);
  });
});
