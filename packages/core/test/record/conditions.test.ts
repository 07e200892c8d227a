import { ManualClock } from "@bridge/tooling/manual-clock";
import { describe, expect, it } from "vitest";
import type { ConditionFacts, ConditionRule, Met } from "../../src/record/condition-facts.ts";
import { CONDITION_RULES } from "../../src/record/condition-rules.ts";
import { Conditions } from "../../src/record/conditions.ts";
import { RecentGrowth } from "../../src/record/recent-growth.ts";

const NOTHING = {} as ConditionFacts;

function rules(...given: readonly Partial<ConditionRule>[]) {
  const met = new Map<string, readonly Met[]>();
  const all = given.map((rule, n): ConditionRule => ({
    code: `c${n}`,
    alert: "",
    severity: "warning",
    forMs: 10_000,
    runbook: "not-ready",
    met: () => met.get(`c${n}`) ?? [],
    ...rule,
  }));
  const clock = new ManualClock();
  return { clock, met, conditions: new Conditions(clock, all) };
}

describe("operators 6.2: conditions", () => {
  it("hold once they have been so on end for long enough, and say since when", () => {
    const { clock, met, conditions } = rules({});
    const began = clock.now();
    met.set("c0", [{ what: "bad", routeId: "r" }]);
    for (let look = 0; look < 2; look++) {
      conditions.look(NOTHING);
      expect(conditions.current).toEqual([]);
      clock.advance(5_000);
    }
    conditions.look(NOTHING);
    expect(conditions.current).toEqual([
      { code: "c0", severity: "warning", since: began, what: "bad", routeId: "r", runbook: "not-ready" },
    ]);
    expect(conditions.changes).toBe(1);
    met.set("c0", []);
    conditions.look(NOTHING);
    expect([conditions.current, conditions.past.length, conditions.changes]).toEqual([[], 1, 2]);
    expect(conditions.past[0]).toMatchObject({ code: "c0", until: began + 10_000 });
  });

  it("begin anew after a look at which they were not so", () => {
    const { clock, met, conditions } = rules({});
    for (let look = 0; look < 20; look++) {
      met.set("c0", look % 2 === 0 ? [{ what: "bad" }] : []);
      conditions.look(NOTHING);
      clock.advance(9_000);
    }
    expect([conditions.current, conditions.past]).toEqual([[], []]);
  });

  it("are told apart by their place, gravest first, and those that have ended are the last 200", () => {
    const { clock, met, conditions } = rules({ forMs: 0 }, { forMs: 0, severity: "critical" });
    met.set(
      "c0",
      ["a", "b"].map((routeId) => ({ what: "bad", routeId })),
    );
    met.set("c1", [{ what: "worse: 7 things" }]);
    conditions.look(NOTHING);
    expect(conditions.current.map(({ code, routeId }) => [code, routeId])).toEqual([
      ["c1", undefined],
      ["c0", "a"],
      ["c0", "b"],
    ]);
    // Another number is the same condition.
    met.set("c1", [{ what: "worse: 8 things" }]);
    conditions.look(NOTHING);
    expect([conditions.current[0]?.what, conditions.past]).toEqual(["worse: 8 things", []]);
    for (let n = 0; n < 300; n++) {
      met.set("c0", [{ what: "bad", routeId: `r${n}` }]);
      clock.advance(1_000);
      conditions.look(NOTHING);
    }
    expect([conditions.past.length, conditions.past[0]?.routeId]).toEqual([200, "r298"]);
  });

  it("of a flood are a bounded number", () => {
    const { met, conditions } = rules({ forMs: 0 });
    met.set(
      "c0",
      Array.from({ length: 5_000 }, (_, n) => ({ what: "bad", routeId: `r${n}` })),
    );
    conditions.look(NOTHING);
    expect(conditions.current).toHaveLength(1_000);
  });

  it("a configuration that its instance has left on probation is told as that instance's refusals tell it", () => {
    const rule = CONDITION_RULES.find(({ code }) => code === "config_probation");
    const outside = { now: 0, probationLeft: "version 4 was on probation at the instance a" };
    expect([...(rule?.met({ outside } as unknown as ConditionFacts) ?? [])]).toEqual([{ what: outside.probationLeft }]);
  });

  it("each rule is met by what it is about, and by nothing else", () => {
    const bad: Readonly<Record<string, object>> = {
      not_ready: { view: { level: "connected", role: "standalone" } },
      unhealthy: { view: { failures: [{ component: "route r", error: "no" }] } },
      session_down: { view: { sessions: [{ sessionId: "s", connected: false, hasLease: false }] } },
      unaccounted: { stats: { unaccounted: 3 } },
      target_fails: { sends: [{ routeId: "r", bindingId: "b", failedShare: 0.11 }] },
      target_slow: { sends: [{ routeId: "r", bindingId: "b", failedShare: 0, p99Ms: 5_001 }] },
      route_full: {
        view: { routes: [{ id: "r", policy: { maxInFlight: 5 } }] },
        stats: { routes: [{ routeId: "r", inFlight: 5 }] },
      },
      route_paused: { view: { routes: [{ id: "r", paused: true, policy: { maxInFlight: 5 } }] } },
      outbox_old: { outboxAges: [{ routeId: "r", bindingId: "b", seconds: 901 }] },
      outbox_filling: {
        stats: { legs: [{ routeId: "r", inOutbox: 81, dispositions: {} }] },
        maxOutboxDepth: () => 100,
      },
      store_not_writable: { view: { stores: [{ role: "dlq", state: "faulty", fault: "full", setAside: [] }] } },
      store_set_aside: { view: { stores: [{ role: "dlq", setAside: ["x"] }] } },
      store_spoiled: { view: { stores: [{ role: "dlq", setAside: [], spoiled: 1 }] } },
      audit_lost: { outside: { auditFailures: new Map([["file", 1]]), now: 0 }, grown: () => true },
      lease_unheld: {
        view: { sessions: [{ sessionId: "s", hasLease: false, leasedElsewhere: false }] },
        exclusive: new Set(["s"]),
      },
      lease_lost: { stats: { leases: [{ sessionId: "s", losses: 1 }] }, grown: () => true },
      job_halted: { stats: { jobs: { jobs: [{ kind: "redrive", state: "halted", count: 1 }] } } },
      config_probation: { outside: { probationEndsAt: 59_999, now: 0 } },
      config_failing: { outside: { configError: "no", now: 0 } },
      restart_required: { view: { restartRequired: ["http"] } },
      loop_late: { outside: { loopP99Ms: 251, now: 0 } },
      certificate_expires: { outside: { certificates: [{ server: "admin", expiresAt: 13 * 86_400_000 }], now: 0 } },
      dead_letters: {
        stats: { legs: [{ routeId: "r", bindingId: "b", dispositions: { dead_lettered: 1, dropped: 0 } }] },
        grown: (key: string) => key.startsWith("dead_lettered"),
      },
      drops: {
        stats: { legs: [{ routeId: "r", bindingId: "", dispositions: { dead_lettered: 0, dropped: 1 } }] },
        grown: (key: string) => key.startsWith("dropped"),
      },
    };
    const well = {
      view: {
        level: "full",
        role: "standalone",
        failures: [],
        sessions: [],
        routes: [],
        stores: [],
        restartRequired: [],
      },
      stats: {
        unaccounted: 0,
        legs: [],
        routes: [],
        leases: [],
        jobs: {
          jobs: [
            { kind: "redrive", state: "running", count: 2 },
            { kind: "purge", state: "halted", count: 0 },
          ],
        },
      },
      outside: { now: 0, probationEndsAt: 60_000 },
      grown: () => false,
      sends: [],
      outboxAges: [],
      maxOutboxDepth: () => undefined,
      exclusive: new Set<string>(),
    };
    expect(Object.keys(bad).toSorted()).toEqual(CONDITION_RULES.map(({ code }) => code).toSorted());
    for (const [code, wrong] of Object.entries(bad)) {
      const { view = {}, stats = {}, ...rest } = wrong as { readonly view?: object; readonly stats?: object };
      const facts = { ...well, ...rest, view: { ...well.view, ...view }, stats: { ...well.stats, ...stats } };
      const met = CONDITION_RULES.filter((rule) => [...rule.met(facts as unknown as ConditionFacts)].length > 0);
      expect([code, met.map((rule) => rule.code)]).toEqual([code, [code]]);
    }
  });
});

describe("operators 6.2: a counter has grown lately", () => {
  it("if it has since the first look, or came up after it", () => {
    const clock = new ManualClock();
    const growth = new RecentGrowth(clock);
    const look = (values: Readonly<Record<string, number>>) => {
      growth.begin();
      const grown = Object.entries(values).filter(([key, value]) => growth.within(key, value, 10_000));
      growth.end();
      clock.advance(5_000);
      return grown.map(([key]) => key);
    };
    expect(look({ a: 7, b: 0 })).toEqual([]);
    expect(look({ a: 7, b: 1 })).toEqual(["b"]);
    expect(look({ a: 7, b: 1, c: 3 })).toEqual(["b", "c"]);
    expect(look({ a: 7, b: 1, c: 3 })).toEqual(["c"]);
    expect(look({ a: 7, b: 1 })).toEqual([]);
  });
});
