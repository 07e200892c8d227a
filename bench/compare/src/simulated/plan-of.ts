import type { Fault, Plan } from "@bridge/simulation";
import { POLICY } from "../policy.ts";
import { bindingOf, type Scenario, type Trouble } from "../scenario.ts";

const LATENCY_MS = 5;
/** What the models are told to take longer than any trouble. */
const CALM_AFTER_MS = 1_000;

/** The scenario as the simulation has it: the same messages and troubles, at the same times. */
export function planOf(scenario: Scenario, seed: number): Plan {
  const { source, retry, targets, mode, store, drops, attempts, window, messages, troubles } = scenario;
  const bindings = targets.map((_, index) => bindingOf(index));
  const outbox = mode === "shared_outbox";
  const linked = targets.some((target) => target !== "http");
  const last = Math.max(...messages.map(({ at }) => at), ...troubles.map(({ at, forMs }) => at + forMs));
  return {
    seed,
    document: {
      bridge: { id: "simulated" },
      stores: { dlq: { type: "simulated" }, ...(outbox && { outbox: { type: "simulated" } }) },
      sessions: [
        { id: "session", transport: "simulated", session_mode: "persistent" },
        ...(linked ? [{ id: "targets", transport: "linked", session_mode: "ephemeral" } as const] : []),
      ],
      receivers: [{ id: "in", transport: "simulated", session_id: "session" }],
      senders: [
        { id: "out", ...(linked ? { transport: "linked", session_id: "targets" } : { transport: "simulated" }) },
      ],
      bindings: bindings.map((id) => ({ id, sender_id: "out", address: id })),
      routes: [
        {
          id: "route",
          receiver_id: "in",
          delivery_mode: mode,
          dispatch_mode: bindings.length === 1 ? "single" : "fan_out",
          bindings,
          policy: {
            ...POLICY,
            max_in_flight: window,
            max_replay_attempts: attempts,
            on_permanent_failure: drops ? "drop" : "dlq",
          },
        },
      ],
    },
    bindings,
    maxReplayAttempts: attempts,
    drops,
    messages: messages.map(({ number, at, key, refused }) => ({
      number,
      at,
      ...(key !== undefined && { key }),
      poisons: Object.fromEntries(
        refused.flatMap((code, index) => (code === undefined ? [] : [[bindingOf(index), code]])),
      ),
    })),
    faults: troubles.flatMap((trouble) => faultsOf(trouble, scenario)),
    broker:
      source === "mqtt"
        ? { latencyMs: LATENCY_MS, confirms: false, releasable: false, counts: false, resumes: true }
        : { latencyMs: LATENCY_MS, confirms: false, releasable: retry === "requeue", counts: true },
    target: { latencyMs: LATENCY_MS, refuses: 0, loses: 0, silent: 0, slow: 0 },
    dlq: { latencyMs: LATENCY_MS },
    ...(outbox && { outbox: { latencyMs: LATENCY_MS, shared: store === "postgres", maxRecords: 100_000 } }),
    calmAt: last + CALM_AFTER_MS,
  };
}

function faultsOf({ kind, at, forMs }: Trouble, { source, targets, mode }: Scenario): readonly Fault[] {
  const span = { at, forMs };
  switch (kind) {
    case "kill":
    case "stop":
      return [{ ...span, kind }];
    case "freeze":
      return [{ ...span, kind, machine: false }];
    case "source_cut":
      return [{ ...span, kind: "cut", noticedAfterMs: 0 }];
    case "target_cut":
      return [{ ...span, kind: "target-cut", noticedAfterMs: 0 }];
    case "source_down":
      return [{ ...span, kind: "broker-down" }];
    case "target_down":
      return [{ ...span, kind: "target-down", answers: "refuses" }];
    case "broker_restart":
      return [
        ...(source === "mqtt" ? [{ ...span, kind: "broker-down" } as const] : []),
        ...(targets.includes("mqtt") ? [{ ...span, kind: "target-down", answers: "refuses" } as const] : []),
      ];
    case "store_restart":
      return [
        { ...span, kind: "dlq-down", answers: "refuses" },
        ...(mode === "shared_outbox" ? [{ ...span, kind: "outbox-down", answers: "refuses" } as const] : []),
      ];
  }
}
