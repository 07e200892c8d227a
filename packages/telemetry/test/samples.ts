import type { BridgeStats, BridgeView, HistogramStats, LegStats, SessionView } from "@bridge/core";
import type { Waiting } from "../src/index.ts";

/** Milliseconds. */
const bounds = [2.5, 1_000];
const nothing: HistogramStats = { bounds, counts: [0, 0, 0], sum: 0 };

/** A bridge in the middle of its work, with a different number in every place. */
export const stats: BridgeStats = {
  legs: [
    {
      routeId: "alarms",
      bindingId: "to-out",
      received: 101,
      injected: 7,
      recovered: 21,
      attempts: 130,
      inFlight: 3,
      inOutbox: 22,
      dispositions: {
        delivered: 80,
        dead_lettered: 11,
        dropped: 2,
        filtered: 0,
        expired: 4,
        duplicate: 1,
        released: 5,
        abandoned: 2,
      },
      sends: {
        accepted: { bounds, counts: [31, 32, 33], sum: 34_000 },
        failed: { bounds, counts: [0, 0, 35], sum: 36 },
      },
      endToEnd: { bounds, counts: [37, 0, 38], sum: 39_500 },
      outboxAge: { bounds, counts: [40, 41, 42], sum: 43_250 },
    },
    leg({ routeId: "alarms", bindingId: "", received: 6 }),
  ],
  routes: [
    {
      routeId: "alarms",
      inFlight: 9,
      dlqWriteFailures: 12,
      outboxWriteFailures: 23,
      settleFailures: 13,
      hold: { bounds, counts: [44, 45, 0], sum: 46_500 },
    },
  ],
  sessions: [{ sessionId: "broker", connected: true, connects: 14, failures: 15 }],
  leases: [{ sessionId: "broker", acquisitions: 24, yields: 1, losses: 25, failures: 26 }],
  parts: [
    { part: "receiver", id: "in", counters: { resent: 16 } },
    { part: "session", id: "broker/source", counters: { reconnects: 17, bytes: 18 } },
  ],
  hooks: [{ hook: "onState", calls: 27, failures: 28, lost: 29 }],
  redrives: 19,
  jobs: {
    jobs: [{ kind: "redrive", state: "halted", count: 2 }],
    entries: [{ kind: "redrive", outcome: "in_doubt", count: 16 }],
    halts: [{ why: "failure_ratio", count: 4 }],
    adoptions: 8,
    trashEntries: 512,
  },
  redriveFailures: 20,
  unaccounted: 0,
};

export const view: BridgeView = {
  instanceId: "plant-7-a",
  configVersion: 3,
  state: "running",
  running: true,
  health: "ok",
  role: "standalone",
  level: "connected",
  empty: false,
  serviceLevel: "degraded",
  routes: [
    {
      id: "alarms",
      deliveryMode: "direct_hold",
      dispatchMode: "single",
      paused: true,
      progress: { progress: "stalled", reason: "why", since: 5_000, oldestUnsettledMs: 61_500, failureShare: 0.25 },
      policy: {
        maxInFlight: 100,
        maxReplayAttempts: 5,
        replayBudgetMs: 0,
        sendTimeoutMs: 30_000,
        maxOutboxDepth: 10_000,
        ackAfter: "target_accept",
        onPermanentFailure: "dlq",
        onExpired: "dlq",
        onFiltered: "drop",
        allowUnfenced: false,
        backoff: { initialIntervalMs: 1_000, maxIntervalMs: 30_000, multiplier: 2, jitter: 0.2 },
      },
    },
  ],
  sessions: [session("broker")],
  stores: [
    { role: "dlq", type: "file", state: "up", open: true, setAside: ["dlq.db.damaged-20260101T000000000Z"] },
    { role: "outbox", type: "file", state: "faulty", open: true, fault: "the disk is full", setAside: [], spoiled: 3 },
  ],
  failures: [],
  restartRequired: [],
  undelivered: [],
};

export const waiting: readonly Waiting[] = [{ routeId: "gone", bindingId: "to-out", oldestAgeMs: 24_500 }];

export function leg(some: Partial<LegStats>): LegStats {
  return {
    routeId: "route",
    bindingId: "binding",
    received: 0,
    injected: 0,
    recovered: 0,
    attempts: 0,
    inFlight: 0,
    inOutbox: 0,
    dispositions: {
      delivered: 0,
      dead_lettered: 0,
      dropped: 0,
      filtered: 0,
      expired: 0,
      duplicate: 0,
      released: 0,
      abandoned: 0,
    },
    sends: { accepted: nothing, failed: nothing },
    endToEnd: nothing,
    outboxAge: nothing,
    ...some,
  };
}

export function session(sessionId: string): SessionView {
  return {
    sessionId,
    connected: true,
    hasLease: true,
    leasedElsewhere: false,
    subscriptionsWanted: 21,
    subscriptionsActive: 22,
    ready: false,
    serviceLevel: "degraded",
  };
}
