import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";

export type Severity = "critical" | "warning" | "info";

/** What a rule looks at. */
export interface ConditionFacts {
  readonly view: BridgeView;
  readonly stats: BridgeStats;
  /** What the process tells besides. */
  readonly outside: OutsideFacts;
  /** Whether this counter has grown within so many milliseconds, as far as this process has seen. */
  readonly grown: (key: string, value: number, withinMs: number) => boolean;
  /** What the sends of the last minutes came to, of the bindings that had any. */
  readonly sends: readonly RecentSends[];
  /** How long the oldest record of each place has been in the outbox; looked at once a minute. */
  readonly outboxAges: readonly { readonly routeId: string; readonly bindingId: string; readonly seconds: number }[];
  readonly maxOutboxDepth: (routeId: string) => number | undefined;
  /** The sessions of which one instance holds the lease. */
  readonly exclusive: ReadonlySet<string>;
}

export interface RecentSends {
  readonly routeId: string;
  readonly bindingId: string;
  readonly failedShare: number;
  /** Of accepted sends; absent without any. */
  readonly p99Ms?: number;
}

/** What the engine cannot know of its process. Each is left out where nobody knows it. */
export interface OutsideFacts {
  /** Audit events that did not reach a sink, by its name. */
  readonly auditFailures?: ReadonlyMap<string, number> | undefined;
  /** When certificates of the servers expire, in epoch milliseconds. */
  readonly certificates?: readonly { readonly server: string; readonly expiresAt: number }[] | undefined;
  readonly loopP99Ms?: number | undefined;
  /** Why the newest configuration is not in force, as its source says. */
  readonly configError?: string | undefined;
  /** When the configuration is taken back unless somebody confirms it, in epoch milliseconds; absent while none is on probation. */
  readonly probationEndsAt?: number | undefined;
  /** What another instance has left on probation, in words; absent while none has. */
  readonly probationLeft?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A rule that is met, at one place. */
export interface Met {
  readonly what: string;
  readonly routeId?: string;
  readonly bindingId?: string;
  readonly sessionId?: string;
}

export interface ConditionRule {
  readonly code: string;
  /** The shipped alert that says the same. */
  readonly alert: string;
  readonly severity: Severity;
  /** How long it has to be met on end. */
  readonly forMs: number;
  /** The number that the alert compares with. */
  readonly threshold?: number;
  readonly runbook: string;
  readonly met: (facts: ConditionFacts) => Iterable<Met>;
}

const MINUTE = 60_000;
const QUARTER_HOUR = 15 * MINUTE;

/** The alerts of `deploy/observability/bridge.rules.yml` that one process can tell by itself. */
export const CONDITION_RULES: readonly ConditionRule[] = [
  {
    code: "not_ready",
    alert: "BridgeNotReady",
    severity: "warning",
    forMs: 10 * MINUTE,
    runbook: "not-ready",
    *met({ view: { level, role } }) {
      if (level !== "full" && role !== "standby") yield { what: `the bridge is ready up to ${level}, not full` };
    },
  },
  {
    code: "unhealthy",
    alert: "BridgeUnhealthy",
    severity: "critical",
    forMs: MINUTE,
    threshold: 0,
    runbook: "not-ready",
    *met({ view }) {
      for (const { component, error } of view.failures) yield { what: `${component} has failed: ${error}` };
    },
  },
  {
    code: "session_down",
    alert: "BridgeSessionDown",
    severity: "warning",
    forMs: 5 * MINUTE,
    threshold: 0,
    runbook: "not-ready",
    *met({ view, exclusive }) {
      for (const { sessionId, connected, hasLease } of view.sessions)
        if (!connected && (hasLease || !exclusive.has(sessionId)))
          yield { what: `session ${sessionId} is not connected`, sessionId };
    },
  },
  {
    code: "unaccounted",
    alert: "BridgeUnaccounted",
    severity: "critical",
    forMs: MINUTE,
    threshold: 0,
    runbook: "unaccounted",
    *met({ stats: { unaccounted } }) {
      if (unaccounted !== 0) yield { what: `${unaccounted} messages are not accounted for: a bug of the bridge` };
    },
  },
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
  {
    code: "store_not_writable",
    alert: "BridgeStoreNotWritable",
    severity: "critical",
    forMs: 2 * MINUTE,
    threshold: 0,
    runbook: "store-not-writable",
    *met({ view }) {
      for (const { role, state, fault } of view.stores)
        if (state === "faulty" || state === "opening")
          yield { what: `the ${role} store takes nothing${fault === undefined ? "" : `: ${fault}`}` };
    },
  },
  {
    code: "store_set_aside",
    alert: "BridgeStoreSetAside",
    severity: "critical",
    forMs: MINUTE,
    threshold: 0,
    runbook: "store-not-writable",
    *met({ view }) {
      for (const { role, setAside } of view.stores)
        if (setAside.length > 0) yield { what: `the ${role} store has set ${setAside.length} damaged files aside` };
    },
  },
  {
    code: "audit_lost",
    alert: "BridgeAuditLost",
    severity: "critical",
    forMs: MINUTE,
    threshold: 0,
    runbook: "store-not-writable",
    *met({ outside, grown }) {
      for (const [sink, failures] of outside.auditFailures ?? [])
        if (grown(`audit ${sink}`, failures, QUARTER_HOUR)) yield { what: `audit events do not reach ${sink}` };
    },
  },
  {
    code: "lease_unheld",
    alert: "BridgeLeaseUnheld",
    severity: "critical",
    forMs: MINUTE,
    threshold: 0,
    runbook: "failover",
    *met({ view, exclusive }) {
      for (const { sessionId, hasLease, leasedElsewhere } of view.sessions)
        if (exclusive.has(sessionId) && !hasLease && !leasedElsewhere)
          yield { what: `no instance is known to hold the lease of session ${sessionId}`, sessionId };
    },
  },
  {
    code: "lease_lost",
    alert: "BridgeLeaseLost",
    severity: "warning",
    forMs: MINUTE,
    threshold: 0,
    runbook: "failover",
    *met({ stats, grown }) {
      for (const { sessionId, losses } of stats.leases)
        if (grown(`lease ${sessionId}`, losses, QUARTER_HOUR))
          yield { what: `this instance had to step down from the lease of session ${sessionId}`, sessionId };
    },
  },
  {
    code: "config_failing",
    alert: "BridgeConfigFailing",
    severity: "warning",
    forMs: 5 * MINUTE,
    threshold: 1,
    runbook: "configuration-not-applied",
    *met({ view, outside }) {
      const why = outside.configError ?? view.refusedChange;
      if (why !== undefined) yield { what: `the newest configuration is not in force: ${why}` };
    },
  },
  {
    code: "config_probation",
    alert: "BridgeConfigUnconfirmed",
    severity: "warning",
    forMs: 0,
    threshold: 60,
    runbook: "reverted-configuration",
    *met({ outside: { probationEndsAt = Number.POSITIVE_INFINITY, probationLeft, now } }) {
      if (probationLeft !== undefined) yield { what: probationLeft };
      const leftMs = probationEndsAt - now;
      if (leftMs < MINUTE)
        yield {
          what: `the configuration is taken back in ${Math.ceil(Math.max(0, leftMs) / 1_000)} s unless somebody confirms it`,
        };
    },
  },
  {
    code: "restart_required",
    alert: "BridgeRestartRequired",
    severity: "info",
    forMs: 60 * MINUTE,
    threshold: 1,
    runbook: "configuration-not-applied",
    *met({ view }) {
      if (view.restartRequired.length > 0) yield { what: `after a restart only: ${view.restartRequired.join(", ")}` };
    },
  },
  {
    code: "loop_late",
    alert: "BridgeLoopLate",
    severity: "warning",
    forMs: 10 * MINUTE,
    threshold: 0.25,
    runbook: "short-of-resources",
    *met({ outside: { loopP99Ms = 0 } }) {
      if (loopP99Ms > 250) yield { what: `the event loop is ${Math.round(loopP99Ms)} ms late` };
    },
  },
  {
    code: "certificate_expires",
    alert: "BridgeCertificateExpires",
    severity: "warning",
    forMs: 60 * MINUTE,
    threshold: 14 * 86_400,
    runbook: "short-of-resources",
    *met({ outside: { certificates = [], now } }) {
      for (const { server, expiresAt } of certificates)
        if (expiresAt - now < 14 * 86_400_000)
          yield {
            what: `the certificate of the ${server} server expires in ${Math.floor((expiresAt - now) / 86_400_000)} days`,
          };
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
