import type { ConditionRule } from "./condition-facts.ts";

const MINUTE = 60_000;
const QUARTER_HOUR = 15 * MINUTE;

/** Rules on what the bridge depends on: stores, leases, its configuration, its host. */
export const SUPPORT_RULES: readonly ConditionRule[] = [
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
    code: "store_spoiled",
    alert: "BridgeStoreSpoiled",
    severity: "critical",
    forMs: MINUTE,
    threshold: 0,
    runbook: "store-not-writable",
    *met({ view }) {
      for (const { role, spoiled = 0 } of view.stores)
        if (spoiled > 0)
          yield {
            what: `the ${role} store has found ${spoiled} ${spoiled === 1 ? "record" : "records"} not as written`,
          };
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
