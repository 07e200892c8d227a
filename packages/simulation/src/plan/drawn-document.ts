import type { BridgeDocument } from "@bridge/config";
import type { Dice } from "../dice.ts";
import type { OutboxHabits, Plan } from "./plan.ts";

/** The id of the one route. */
const ROUTE = "route";

/** What was drawn by then, and stands in the document. */
export interface Drawn extends Pick<Plan, "dropsExpired" | "keepsFiltered" | "rate"> {
  readonly filters: boolean;
  readonly bindings: readonly string[];
  readonly maxReplayAttempts: number;
  readonly sendTimeoutMs: number;
  readonly drops: boolean;
  readonly outbox: OutboxHabits | undefined;
  /** Whether senders sit on a session. */
  readonly linked: boolean;
  /** Whether one instance at a time has that session. */
  readonly leasesTargets: boolean;
  readonly instances: number;
  readonly exclusive: boolean;
  readonly ttlMs: number;
  readonly jobs: boolean;
  /** Whether the messages come from callers. */
  readonly called: boolean;
}

/** Who asks a small outbox, or for ever, a thousand times a second shows nothing but that. */
function drawBackoff(dice: Dice, isSmall: boolean) {
  const [initial, most, multiplier] = [
    dice.scaled(isSmall ? 100 : 1, 2_000),
    dice.whole(2_000, 20_000),
    dice.whole(1, 4),
  ];
  return {
    initial_interval: `${multiplier === 1 ? Math.max(50, initial) : initial}ms`,
    max_interval: `${most}ms`,
    multiplier,
    jitter: dice.next(),
  };
}

/** The document of a plan, as an operator would write it. */
export function documentOf(dice: Dice, drawn: Drawn): BridgeDocument {
  const { bindings, maxReplayAttempts, sendTimeoutMs, drops, outbox, linked, instances, exclusive, jobs, called } =
    drawn;
  const { ttlMs, leasesTargets } = drawn;
  const leased = exclusive || leasesTargets;
  const { filters, dropsExpired = false, keepsFiltered = false, rate } = drawn;
  // Where fewer may go at once than a message has legs, callers may leave amid each message, for as long as they are too many.
  const least = called ? bindings.length : 1;
  const limit =
    rate === undefined ? {} : { rate_limit: { messages_per_second: rate, burst: Math.max(least, dice.scaled(1, 50)) } };
  const [ofRoute, ofSender] = dice.chance(0.5) ? [limit, {}] : [{}, limit];
  const drainS = dice.whole(5, 30);
  return {
    bridge: {
      id: "simulated",
      // Nobody here looks them up, and each instance would have megabytes.
      recent_legs: 1_000,
      ...(instances > 1 && { deployment_mode: "clustered" }),
      ...((leased || (jobs && instances > 1)) && { lease_ttl: `${ttlMs}ms` }),
      ...(leased && { lease_poll_interval: `${dice.scaled(200, 5_000)}ms` }),
      drain_timeout: `${drainS}s`,
      shutdown_timeout: `${drainS + dice.whole(5, 30)}s`,
    },
    stores: {
      dlq: { type: "simulated" },
      ...(outbox !== undefined && { outbox: { type: "simulated" } }),
      ...(leased && { lease: { type: "simulated" } }),
    },
    sessions: [
      ...(called
        ? []
        : [{ id: "session", transport: "simulated", session_mode: exclusive ? "exclusive" : "persistent" } as const]),
      ...(linked
        ? [{ id: "targets", transport: "linked", session_mode: leasesTargets ? "exclusive" : "ephemeral" } as const]
        : []),
    ],
    receivers: [
      called ? { id: "in", transport: "called" } : { id: "in", transport: "simulated", session_id: "session" },
    ],
    senders: [
      {
        id: "out",
        ...(linked ? { transport: "linked", session_id: "targets" } : { transport: "simulated" }),
        ...ofSender,
      },
    ],
    ...(filters && { processors: [{ id: "filter", type: "simulated" }] }),
    bindings: bindings.map((id) => ({ id, sender_id: "out", address: id })),
    routes: [
      {
        id: ROUTE,
        receiver_id: "in",
        ...(outbox !== undefined && { delivery_mode: "shared_outbox" }),
        dispatch_mode: bindings.length === 1 ? "single" : "fan_out",
        bindings,
        ...(filters && { processors: ["filter"] }),
        ...ofRoute,
        policy: {
          max_in_flight: dice.scaled(1, 100),
          max_replay_attempts: maxReplayAttempts,
          send_timeout: `${sendTimeoutMs}ms`,
          ...(outbox !== undefined && {
            max_outbox_depth: dice.scaled(instances > 1 || called ? 100 : bindings.length, 10_000),
          }),
          on_permanent_failure: drops ? "drop" : "dlq",
          on_expired: dropsExpired ? "drop" : "dlq",
          on_filtered: keepsFiltered ? "dlq" : "drop",
          backoff: {
            ...drawBackoff(dice, (outbox?.maxRecords ?? Infinity) < 1_000),
          },
        },
      },
    ],
  };
}
