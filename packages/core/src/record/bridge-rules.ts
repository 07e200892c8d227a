import type { ConditionRule } from "./condition-facts.ts";

const MINUTE = 60_000;

/** Rules on the bridge as a whole. */
export const BRIDGE_RULES: readonly ConditionRule[] = [
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
];
