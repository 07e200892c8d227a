import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { READINESS_LEVELS, type SessionView } from "../../src/view/bridge-view.ts";
import { aggregateServiceLevel, readinessLevel, type ReadinessFacts, serviceLevel } from "../../src/view/readiness.ts";

const session = (changes: Partial<SessionView> = {}): SessionView => ({
  sessionId: "s",
  connected: true,
  hasLease: false,
  leasedElsewhere: false,
  subscriptionsWanted: 1,
  subscriptionsActive: 1,
  ready: true,
  serviceLevel: "full",
  ...changes,
});
const facts = (changes: Partial<ReadinessFacts> = {}): ReadinessFacts => ({
  running: true,
  healthy: true,
  stored: true,
  role: "standalone",
  sessions: [session()],
  routes: [true],
  ...changes,
});

describe("readiness levels", () => {
  test("spec 3.2.1: full requires a healthy runtime, connected and subscribed sessions, routes able to dispatch", () => {
    expect(readinessLevel(facts())).toBe("full");
    expect(readinessLevel(facts({ healthy: false }))).toBe("subscribed");
    expect(readinessLevel(facts({ sessions: [session({ connected: false, ready: false })] }))).toBe("running");
    expect(readinessLevel(facts({ sessions: [session({ ready: false })] }))).toBe("connected");
  });

  test("spec 3.2.2: an isolated route or session fault caps the level below full", () => {
    expect(readinessLevel(facts({ routes: [true, false] }))).toBe("subscribed");
    expect(readinessLevel(facts({ sessions: [session(), session({ ready: false })] }))).toBe("connected");
  });

  test("a store that takes nothing, or has damaged files that no operator knows of, caps the level below full", () => {
    expect(readinessLevel(facts({ stored: false }))).toBe("subscribed");
  });

  test("spec 3.2.3: a standby is capped at subscribed", () => {
    expect(readinessLevel(facts({ role: "standby" }))).toBe("subscribed");
    expect(readinessLevel(facts({ role: "standby", sessions: [session({ connected: false })] }))).toBe("running");
  });

  test("a standby needs no connection that is another instance's, and so is subscribed while nothing else is wrong", () => {
    const elsewhere = session({ connected: false, ready: false, leasedElsewhere: true });
    const standby = (...others: SessionView[]) =>
      readinessLevel(facts({ role: "standby", sessions: [elsewhere, ...others] }));
    expect(standby()).toBe("subscribed");
    expect(standby(session())).toBe("subscribed");
    expect(standby(session({ connected: false, ready: false }))).toBe("running");
  });

  test("contract 4: a session leased by another live instance does not lower the level of an active one", () => {
    const mine = session({ hasLease: true });
    const other = session({ connected: false, ready: false, leasedElsewhere: true });
    const active = (...sessions: SessionView[]) => readinessLevel(facts({ role: "active", sessions }));
    expect(active(mine, other)).toBe("full");
    expect(active(mine, session({ connected: false, ready: false }))).toBe("running");
    expect(active(session({ hasLease: true, connected: false, ready: false }), other)).toBe("running");
  });

  test("spec 3.2.4: an empty instance never rises above running", () => {
    expect(readinessLevel(facts({ routes: [], sessions: [] }))).toBe("running");
  });

  test("a bridge that does not run is live and no more", () => {
    expect(readinessLevel(facts({ running: false }))).toBe("live");
  });

  test("no fact that gets worse ever raises the level", () => {
    const sessions = fc.array(
      fc
        .record({ connected: fc.boolean(), ready: fc.boolean() })
        .map((given) => session({ ...given, ready: given.connected && given.ready })),
      { maxLength: 4 },
    );
    const anyFacts = fc.record({
      running: fc.boolean(),
      healthy: fc.boolean(),
      stored: fc.boolean(),
      role: fc.constantFrom("standalone" as const, "active" as const, "standby" as const),
      sessions,
      routes: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
    });
    const rank = (given: ReadinessFacts): number => READINESS_LEVELS.indexOf(readinessLevel(given));
    fc.assert(
      fc.property(anyFacts, (given) => {
        const worse: ReadinessFacts[] = [
          { ...given, running: false },
          { ...given, healthy: false },
          { ...given, stored: false },
          { ...given, role: "standby" },
          { ...given, routes: given.routes.map(() => false) },
          { ...given, sessions: given.sessions.map((one) => ({ ...one, ready: false })) },
          { ...given, sessions: given.sessions.map((one) => ({ ...one, connected: false, ready: false })) },
        ];
        for (const one of worse) expect(rank(one)).toBeLessThanOrEqual(rank(given));
      }),
    );
  });
});

describe("service levels (contract 4)", () => {
  test("of one session: full, degraded or none by its subscriptions", () => {
    expect(serviceLevel({ connected: true, subscriptionsWanted: 2, subscriptionsActive: 2 })).toBe("full");
    expect(serviceLevel({ connected: true, subscriptionsWanted: 2, subscriptionsActive: 1 })).toBe("degraded");
    expect(serviceLevel({ connected: true, subscriptionsWanted: 2, subscriptionsActive: 0 })).toBe("none");
    expect(serviceLevel({ connected: true, subscriptionsWanted: 0, subscriptionsActive: 0 })).toBe("full");
    expect(serviceLevel({ connected: false, subscriptionsWanted: 0, subscriptionsActive: 0 })).toBe("none");
  });

  test("over all sessions", () => {
    expect(aggregateServiceLevel([])).toBe("full");
    expect(aggregateServiceLevel(["full", "full"])).toBe("full");
    expect(aggregateServiceLevel(["none", "none"])).toBe("none");
    expect(aggregateServiceLevel(["full", "none"])).toBe("degraded");
    expect(aggregateServiceLevel(["degraded"])).toBe("degraded");
  });
});
