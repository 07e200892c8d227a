import { type Admission, BridgeError, type Logger, silentLogger } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLEAN } from "../src/circuit.ts";
import { CircuitTable } from "../src/circuit-table.ts";
import { circuitBreakerPlugin } from "../src/circuit-breaker-plugin.ts";
import { bound, envelopeOf, make } from "./support/parts.ts";
import { problemsOf, startRoute } from "./support/route.ts";

const outage = new BridgeError("UNAVAILABLE", "the target is away");

function breakerOf(options: unknown, logger?: Logger) {
  const clock = new ManualClock();
  const breaker = make(circuitBreakerPlugin, options, logger === undefined ? { clock } : { clock, logger });
  const admit = (bindingId = "b", headers: Readonly<Record<string, string>> = {}): Admission => {
    const admission = breaker.admit?.(envelopeOf({ headers }), bindingId);
    if (admission === undefined) throw new Error("a circuit breaker always answers");
    return admission;
  };
  /** Sends once, with this error or without one; says whether it was admitted. */
  const send = (error: BridgeError | "cancelled" | undefined, ...target: Parameters<typeof admit>): boolean => {
    const admission = admit(...target);
    if (admission.kind === "refused") return false;
    if (error === "cancelled") admission.ended({ kind: "cancelled" });
    else admission.ended(error === undefined ? { kind: "accepted" } : { kind: "failed", error });
    return true;
  };
  return { breaker, clock, admit, send };
}

describe("circuit_breaker", () => {
  test("refuses as UNAVAILABLE, with a wait and without a charge, after so many failures in a row", () => {
    const { clock, admit, send } = breakerOf({ failures: 2, open_for: "10s" });
    expect([send(outage), send(outage), send(undefined)]).toEqual([true, true, false]);
    clock.advance(4_000);
    const admission = admit();
    expect(admission).toMatchObject({
      kind: "refused",
      error: {
        code: "UNAVAILABLE",
        message: "the circuit of binding b is open: its sends kept failing",
        retryAfterMs: 6_000,
        charged: false,
      },
    });
    clock.advance(6_000);
    expect([send(undefined), send(undefined)]).toEqual([true, true]);
  });

  test("passes every message on as it is", async () => {
    const { breaker } = breakerOf({});
    const envelope = envelopeOf();
    expect(await breaker.process(envelope, bound())).toEqual({ kind: "pass", envelope });
  });

  test.each([
    ["TIMEOUT", false],
    ["CONNECTION_LOST", false],
    ["THROTTLED", false],
    ["INTERNAL", false],
    ["REJECTED", true],
    ["SCHEMA_VIOLATION", true],
    ["FORBIDDEN", true],
  ] as const)("a send that ends in %s leaves the target's circuit closed: %s", (code, closed) => {
    const { send } = breakerOf({ failures: 1 });
    send(new BridgeError(code, "no"));
    expect(send(undefined)).toBe(closed);
  });

  test("what was given up or never tried says nothing, for or against", () => {
    const { send } = breakerOf({ failures: 2 });
    send(outage);
    send("cancelled");
    send(new BridgeError("UNAVAILABLE", "not tried", { charged: false }));
    send(outage);
    expect(send(undefined)).toBe(false);
  });

  test("keeps the bindings apart, and with a key the messages of each key", () => {
    const plain = breakerOf({ failures: 1 });
    plain.send(outage, "a");
    expect([plain.send(undefined, "a"), plain.send(undefined, "b")]).toEqual([false, true]);

    const keyed = breakerOf({ failures: 1, key: "header.Tenant" });
    keyed.send(outage, "a", { tenant: "t1" });
    keyed.send(outage, "b");
    expect(keyed.send(undefined, "a", { tenant: "t1" })).toBe(false);
    expect(keyed.send(undefined, "a", { tenant: "t2" })).toBe(true);
    expect(keyed.send(undefined, "a")).toBe(true);
    expect(keyed.send(undefined, "b", { tenant: "t1" })).toBe(true);
    expect(keyed.send(undefined, "b")).toBe(false);
  });

  test("forgets a circuit rather than grow", () => {
    const { send } = breakerOf({ failures: 1, key: "subject", max_keys: 2 });
    const keyed = breakerOf({ failures: 1, key: "header.k", max_keys: 2 });
    for (const k of ["1", "2", "3"]) keyed.send(outage, "b", { k });
    expect(["1", "2", "3"].map((k) => keyed.send(undefined, "b", { k }))).toEqual([true, false, false]);
    send(undefined);
  });

  test("logs when a circuit opens and closes, by its binding only", () => {
    const lines: unknown[] = [];
    const write = (message: string, fields?: unknown): void => void lines.push([message, fields]);
    const { clock, send } = breakerOf(
      { failures: 1, open_for: "1s", key: "header.tenant" },
      { ...silentLogger, warn: write, info: write },
    );
    const to = ["b", { tenant: "s3cr3t" }] as const;
    send(outage, ...to);
    clock.advance(1_000);
    send(undefined, ...to);
    send(undefined, ...to);
    expect(lines).toEqual([
      ["circuit opened", { binding_id: "b" }],
      ["circuit closed", { binding_id: "b" }],
    ]);
  });

  test("options are bounded", () => {
    expect(problemsOf("circuit_breaker", {})).toEqual([]);
    expect(problemsOf("circuit_breaker", { failures: 0, open_for: "0s", probes: 0, max_keys: 0 })).toHaveLength(4);
    expect(problemsOf("circuit_breaker", { key: "tenant" })).toEqual([expect.stringContaining("not a field")]);
  });
});

describe("the table of circuits", () => {
  test("never holds more than its capacity, and forgets what changed longest ago", () => {
    const changes = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat(2)), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), changes, (capacity, drawn) => {
        const table = new CircuitTable(capacity);
        let model: (readonly [string, number])[] = [];
        for (const [key, failures] of drawn) {
          table.set(key, { kind: "closed", failures });
          model = [...model.filter(([known]) => known !== key), ...(failures === 0 ? [] : [[key, failures] as const])];
          model = model.slice(-capacity);
          expect(table.size).toBe(model.length);
          for (const known of ["a", "b", "c", "d", "e"]) {
            const kept = model.find(([each]) => each === known);
            expect(table.get(known)).toEqual(kept === undefined ? CLEAN : { kind: "closed", failures: kept[1] });
          }
        }
      }),
    );
  });
});

describe("circuit_breaker in a route", () => {
  test("while the target is away only probes are sent, and nothing is charged in vain; then all goes through", async () => {
    const openForMs = 50;
    await using route = await startRoute(
      [{ type: "circuit_breaker", options: { failures: 3, open_for: `${openForMs}ms`, probes: 1 } }],
      { policy: { max_replay_attempts: 100 } },
    );
    const attempts = (): number =>
      route.supervisor.stats().legs.find(({ bindingId }) => bindingId === "out")?.attempts ?? 0;
    route.hub.channel("out").sends.failNext(Infinity, outage);
    for (let at = 0; at < 20; at++) route.hub.publish("in", { id: `m${at}` });
    const startedAt = performance.now();
    while (attempts() < 25) await new Promise((resolve) => setTimeout(resolve, 5));
    // What was sent before the circuit opened, and one probe each time that it has been open for long enough.
    expect(attempts()).toBeLessThanOrEqual(20 + 1 + (performance.now() - startedAt) / openForMs);
    route.hub.channel("out").sends.clear();
    expect(await route.settled(20)).toEqual(Array.from({ length: 20 }, () => "delivered"));
    expect(await route.deadLetters()).toEqual([]);
  });

  test("on shared_outbox, records wait in the outbox while it is open, and are not charged", async () => {
    await using route = await startRoute([{ type: "circuit_breaker", options: { failures: 2, open_for: "50ms" } }], {
      route: { delivery_mode: "shared_outbox" },
      policy: { max_replay_attempts: 6, max_in_flight: 1 },
    });
    const out = route.hub.channel("out");
    const attempts = (): number =>
      route.supervisor.stats().legs.find(({ bindingId }) => bindingId === "out")?.attempts ?? 0;
    out.sends.failNext(5, outage);
    for (let at = 0; at < 10; at++) route.hub.publish("in", { id: `m${at}` });
    expect(await route.settled(10)).toEqual(Array.from({ length: 10 }, () => "persisted"));
    await out.until((channel) => channel.arrived === 10, bound());
    expect(attempts()).toBe(15);
    expect(await route.deadLetters()).toEqual([]);
  });

  test("the attempts of a message are its own sends: a message that was only ever refused keeps its whole budget", async () => {
    await using route = await startRoute([{ type: "circuit_breaker", options: { failures: 1, open_for: "20ms" } }], {
      policy: { max_replay_attempts: 2 },
    });
    route.hub.channel("out").sends.failNext(5, outage);
    for (let at = 0; at < 3; at++) route.hub.publish("in", { id: `m${at}` });
    const outcomes = await route.settled(3);
    // Five failures: two use up the budget of a message, so that at most two messages can run out of theirs.
    expect(outcomes.filter((outcome) => outcome === "dead_lettered").length).toBeLessThanOrEqual(2);
    for (const entry of await route.deadLetters()) expect(entry.attempts).toBe(2);
  });
});
