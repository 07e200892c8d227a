import type { ConditionFacts, ConditionRule, Met } from "./condition-facts.ts";
import type { BridgeStats } from "../view/stats.ts";

const MINUTE = 60_000;
const QUARTER_HOUR = 15 * MINUTE;

/** Rules on message traffic. */
export const TRAFFIC_RULES: readonly ConditionRule[] = [
  {
    code: "dead_letters",
    alert: "BridgeDeadLetters",
    severity: "warning",
    forMs: 5 * MINUTE,
    threshold: 0,
    runbook: "growing-dlq",
    met: ({ stats, grown }) => legsThat(stats, grown, "dead_lettered", "messages are dead-lettered"),
  },
  {
    code: "drops",
    alert: "BridgeDrops",
    severity: "warning",
    forMs: 5 * MINUTE,
    threshold: 0,
    runbook: "growing-dlq",
    met: ({ stats, grown }) => legsThat(stats, grown, "dropped", "messages are dropped, as the policy says"),
  },
  {
    code: "job_halted",
    alert: "BridgeJobHalted",
    severity: "warning",
    forMs: MINUTE,
    threshold: 0,
    runbook: "halted-job",
    *met({ stats: { jobs } }) {
      for (const { kind, state, count } of jobs.jobs)
        if (state === "halted" && count > 0)
          yield { what: `${count} ${kind} jobs have halted: too much of what they did failed` };
    },
  },
  {
    code: "target_fails",
    alert: "BridgeTargetFails",
    severity: "warning",
    forMs: 10 * MINUTE,
    threshold: 0.1,
    runbook: "slow-target",
    *met({ sends }) {
      for (const { routeId, bindingId, failedShare } of sends)
        if (failedShare > 0.1)
          yield { what: `${Math.round(failedShare * 100)} % of the sends to ${bindingId} fail`, routeId, bindingId };
    },
  },
  {
    code: "target_slow",
    alert: "BridgeTargetSlow",
    severity: "warning",
    forMs: 10 * MINUTE,
    threshold: 5,
    runbook: "slow-target",
    *met({ sends }) {
      for (const { routeId, bindingId, p99Ms = 0 } of sends)
        if (p99Ms > 5_000)
          yield { what: `${bindingId} takes ${Math.round(p99Ms)} ms for one in a hundred sends`, routeId, bindingId };
    },
  },
  {
    code: "route_full",
    alert: "BridgeRouteFull",
    severity: "warning",
    forMs: 10 * MINUTE,
    runbook: "slow-target",
    *met({ view, stats }) {
      const inFlight = new Map(stats.routes.map((route) => [route.routeId, route.inFlight]));
      for (const { id, policy } of view.routes)
        if ((inFlight.get(id) ?? 0) >= policy.maxInFlight)
          yield { what: `route ${id} has no slot free: more waits at its source`, routeId: id };
    },
  },
  {
    code: "route_paused",
    alert: "BridgeRoutePaused",
    severity: "info",
    forMs: 60 * MINUTE,
    threshold: 1,
    runbook: "slow-target",
    *met({ view }) {
      for (const { id, paused } of view.routes) if (paused) yield { what: `route ${id} is held still`, routeId: id };
    },
  },
  {
    code: "outbox_old",
    alert: "BridgeOutboxOld",
    severity: "warning",
    forMs: 5 * MINUTE,
    threshold: 900,
    runbook: "slow-target",
    *met({ outboxAges }) {
      for (const { routeId, bindingId, seconds } of outboxAges)
        if (seconds > 900)
          yield {
            what: `a message for ${bindingId} has waited in the outbox for ${Math.round(seconds)} s`,
            routeId,
            bindingId,
          };
    },
  },
  {
    code: "outbox_filling",
    alert: "BridgeOutboxFilling",
    severity: "warning",
    forMs: 10 * MINUTE,
    threshold: 0.8,
    runbook: "slow-target",
    *met({ stats, maxOutboxDepth }) {
      const depths = new Map<string, number>();
      for (const { routeId, inOutbox } of stats.legs) depths.set(routeId, (depths.get(routeId) ?? 0) + inOutbox);
      for (const [routeId, depth] of depths) {
        const most = maxOutboxDepth(routeId);
        if (most !== undefined && depth / most > 0.8)
          yield { what: `the outbox of route ${routeId} holds ${depth} of ${most}`, routeId };
      }
    },
  },
];

function* legsThat(
  { legs }: BridgeStats,
  grown: ConditionFacts["grown"],
  disposition: "dead_lettered" | "dropped",
  what: string,
): Iterable<Met> {
  for (const { routeId, bindingId, dispositions } of legs) {
    const key = `${disposition} ${JSON.stringify([routeId, bindingId])}`;
    if (!grown(key, dispositions[disposition], QUARTER_HOUR)) continue;
    yield { what: `route ${routeId}: ${what}`, routeId, ...(bindingId !== "" && { bindingId }) };
  }
}
