import type { LeaseStats, SessionStats, SessionView } from "@bridge/core";
import type { Metric, Reading } from "./metric.ts";

const LEASE_STATES = ["held", "elsewhere", "wanted"] as const;

/** Sessions and their leases. */
export const SESSION_METRICS: readonly Metric[] = [
  {
    name: "bridge_session_connected",
    type: "gauge",
    help: "1 while every connection of the session is up.",
    read: perSession((session) => Number(session.connected)),
  },
  {
    name: "bridge_session_connects_total",
    type: "counter",
    help: "Connections made, the first one included.",
    read: perSession((session) => session.connects),
  },
  {
    name: "bridge_session_failures_total",
    type: "counter",
    help: "Connections lost and attempts to connect that failed.",
    read: perSession((session) => session.failures),
  },
  {
    name: "bridge_session_subscriptions_wanted",
    type: "gauge",
    help: "Subscriptions that the configuration asks for.",
    read: perSessionView((session) => session.subscriptionsWanted),
  },
  {
    name: "bridge_session_subscriptions_active",
    type: "gauge",
    help: "Subscriptions that the broker has acknowledged.",
    read: perSessionView((session) => session.subscriptionsActive),
  },
  {
    name: "bridge_session_has_lease",
    type: "gauge",
    help: "1 while this instance holds the lease of the session.",
    read: perSessionView((session) => Number(session.hasLease)),
  },
  {
    name: "bridge_lease_state",
    type: "gauge",
    help: "1 for how the lease of an exclusive session stands: held here, held elsewhere by an instance that is alive, or wanted.",
    read: ({ stats, view }) => {
      const sessions = new Map(view.sessions.map((session) => [session.sessionId, session]));
      return stats.leases.values().flatMap(({ sessionId }) => {
        const session = sessions.get(sessionId);
        const now = session?.hasLease === true ? "held" : session?.leasedElsewhere === true ? "elsewhere" : "wanted";
        return LEASE_STATES.map((state) => ({ labels: { session: sessionId, state }, value: Number(state === now) }));
      });
    },
  },
  {
    name: "bridge_lease_acquisitions_total",
    type: "counter",
    help: "How often this instance has got the lease of the session.",
    read: perLease((lease) => lease.acquisitions),
  },
  {
    name: "bridge_lease_losses_total",
    type: "counter",
    help: "How often this instance had to step down from the lease of the session; a stop of the bridge is none.",
    read: perLease((lease) => lease.losses),
  },
  {
    name: "bridge_lease_yields_total",
    type: "counter",
    help: "How often this instance gave up the lease of the session because it had not been connected for long, and another instance might do better.",
    read: perLease((lease) => lease.yields),
  },
  {
    name: "bridge_lease_renewal_failures_total",
    type: "counter",
    help: "Renewals of the lease that failed and were tried again.",
    read: perLease((lease) => lease.failures),
  },
];

function perSession(value: (session: SessionStats) => number) {
  return ({ stats }: Reading) =>
    stats.sessions.values().map((session) => ({ labels: { session: session.sessionId }, value: value(session) }));
}

function perSessionView(value: (session: SessionView) => number) {
  return ({ view }: Reading) =>
    view.sessions.values().map((session) => ({ labels: { session: session.sessionId }, value: value(session) }));
}

function perLease(value: (lease: LeaseStats) => number) {
  return ({ stats }: Reading) =>
    stats.leases.values().map((lease) => ({ labels: { session: lease.sessionId }, value: value(lease) }));
}
