import type { BridgeDocument } from "@bridge/config";
import type { ErrorCode } from "@bridge/ports";
import { Dice } from "../dice.ts";
import type { Change } from "./change.ts";
import { drawOtherChange, withOtherChanges } from "./draw-changes.ts";
import { withDocuments } from "./draw-documents.ts";
import { drawJob, drawJobAsk } from "./draw-jobs.ts";
import { drawLeaseTimes, usualTtlMs } from "./draw-lease-times.ts";
import type { BrokerHabits, CallerHabits, Edge, Fault, OutboxHabits, Plan, PlannedMessage } from "./plan.ts";

/** The id of the one route. */
const ROUTE = "route";

const POISON: readonly [ErrorCode, ...ErrorCode[]] = [
  "INVALID_PAYLOAD",
  "NOT_AUTHORIZED",
  "FORBIDDEN",
  "PAYLOAD_TOO_LARGE",
  "SCHEMA_VIOLATION",
  "DESTINATION_NOT_FOUND",
];
const KINDS = [
  "kill",
  "cut",
  "target-cut",
  "broker-down",
  "target-down",
  "dlq-down",
  "stop",
  "redrive",
  "discard",
  "pause",
  "jump",
  "freeze",
  "link",
] as const;
/** What comes in the way of a job. */
const AMID_JOBS = ["job-call", "job-call", "job-call", "kill", "freeze", "dlq-down", "target-down"] as const;
/** The more where somebody else takes a job whose owner stands still. */
const AMID_SHARED_JOBS = [...AMID_JOBS, "freeze", "freeze"] as const;
/** What is under way for a moment only, and what comes into its way then: by chance little would fall into it. */
const SOON: Partial<Record<Fault["kind"], Fault["kind"]>> = {
  move: "outbox-down",
  "outbox-down": "stop",
  redrive: "redrive",
  link: "stop",
  pause: "reload",
};
const FORMS = ["text", "buffer", "shared", "resizable"] as const;
const ANSWERS = ["refuses", "silent", "loses"] as const;

/** What happens in the run of a seed: a pure function of it. */
export function draw(seed: number): Plan {
  const dice = new Dice(seed);
  const spanMs = dice.scaled(5_000, 300_000);
  const jobs = dice.fork("jobs").chance(0.3);
  const callers = drawCallers(dice.fork("callers"));
  // Each caller repeats what it has while nothing can be taken.
  const mostMessages = callers === undefined ? 2_000 : 200;
  const published = drawMessages(
    dice.fork("messages"),
    spanMs,
    jobs ? [40, Math.min(mostMessages, 400)] : [10, mostMessages],
  );
  const policies = drawPolicies(dice.fork("policies"));
  const drawnOutbox = drawOutbox(dice.fork("outbox"));
  const alone = drawMany(dice.fork("instances"), jobs ? 0.35 : 0.6);
  // Callers have no session that one instance could have for itself.
  const many = callers === undefined ? alone : { ...alone, exclusive: false };
  const injected = withInjects(dice.fork("injects"), published, many.instances);
  const oddOnes = odd(dice.fork("odd"), injected);
  const messages = healing(dice.fork("healing"), jobs ? failing(dice.fork("failing"), oddOnes) : oddOnes, spanMs);
  const outbox = drawnOutbox && { ...drawnOutbox, shared: drawnOutbox.shared || many.instances > 1 };
  const faults = drawFaults(dice.fork("faults"), spanMs, {
    outbox: outbox !== undefined,
    hangs: outbox?.shared === false,
    jobs,
    ...many,
  });
  const bindings = dice.chance(0.7) ? ["out-0"] : ["out-0", "out-1", "out-2"].slice(0, dice.whole(2, 3));
  const linked = dice.chance(0.4);
  const maxReplayAttempts = dice.scaled(1, 10);
  const drops = dice.chance(jobs ? 0.1 : 0.25);
  const sendTimeoutMs = dice.scaled(100, 30_000);
  const sendsLeased = many.exclusive && outbox === undefined;
  const leases = sendsLeased ? drawLeaseTimes(dice.fork("lease times"), sendTimeoutMs) : undefined;
  const wrong = (most: number): number => (dice.chance(0.5) ? dice.next() * most : 0);
  const plan: Plan = {
    seed,
    document: documentOf(dice.fork("document"), {
      bindings,
      maxReplayAttempts,
      sendTimeoutMs,
      drops,
      outbox,
      linked,
      jobs,
      ttlMs: leases?.ttlMs ?? usualTtlMs(many.exclusive ? sendTimeoutMs : 0),
      called: callers !== undefined,
      filters: messages.some(({ filtered }) => filtered === true),
      ...policies,
      ...many,
    }),
    bindings,
    maxReplayAttempts,
    drops,
    ...policies,
    messages,
    faults,
    broker: drawBroker(dice, many),
    ...(callers !== undefined && { callers }),
    target: {
      // A target that is never in time is no fault that ends.
      latencyMs: dice.scaled(1, Math.min(1_000, Math.floor(sendTimeoutMs / 3))),
      refuses: wrong(0.3),
      loses: wrong(0.1),
      silent: wrong(0.05),
      slow: wrong(0.1),
    },
    dlq: { latencyMs: dice.scaled(1, 300), ...(jobs && { parts: true as const }) },
    ...(outbox !== undefined && { outbox }),
    ...(many.exclusive && { leases: { latencyMs: leases?.latencyMs ?? dice.scaled(1, 300) } }),
    instances: many.instances,
    calmAt: Math.max(spanMs, ...faults.map(({ at, forMs }) => at + forMs)),
  };
  const parts = { outbox: outbox !== undefined, jobs };
  const changes = withOtherChanges(dice.fork("changes"), plan, parts);
  return withDocuments(dice.fork("documents"), changes, (of) =>
    of.chance(0.4) ? drawOtherChange(of, parts) : drawChange(of, parts.outbox),
  );
}

function drawMessages(dice: Dice, spanMs: number, count: readonly [number, number]): readonly PlannedMessage[] {
  const keys = dice.chance(0.4) ? dice.scaled(1, 20) : 0;
  const poisoned = dice.chance(0.5) ? dice.next() * 0.2 : 0;
  return Array.from({ length: dice.scaled(...count) }, () => Math.floor(dice.next() * spanMs))
    .toSorted((a, b) => a - b)
    .map((at, number) => ({
      number,
      at,
      ...(dice.chance(poisoned) && { poison: dice.pick(POISON) }),
      ...(keys > 0 && dice.chance(0.7) && { key: dice.whole(1, keys) }),
    }));
}

/** Some come from operators, without a key. */
function withInjects(dice: Dice, messages: readonly PlannedMessage[], instances: number): readonly PlannedMessage[] {
  const share = dice.chance(0.5) ? dice.next() * 0.2 : 0;
  return messages.map(({ key, ...message }) => {
    if (!dice.chance(share)) return { ...message, ...(key !== undefined && { key }) };
    const patience = dice.chance(0.5) ? { patienceMs: dice.scaled(10, 60_000) } : {};
    return { ...message, inject: { instance: dice.whole(0, instances - 1), ...patience } };
  });
}

/** Where there are jobs, many messages are refused. */
function failing(dice: Dice, messages: readonly PlannedMessage[]): readonly PlannedMessage[] {
  const share = 0.05 + dice.next() * 0.6;
  return messages.map((message) => (dice.chance(share) ? { ...message, poison: dice.pick(POISON) } : message));
}

/** What a target refuses it may take later on, when somebody has mended it. */
function healing(dice: Dice, messages: readonly PlannedMessage[], spanMs: number): readonly PlannedMessage[] {
  const [share, from, within] = [dice.chance(0.8) ? 0.3 + dice.next() : 0, dice.next(), dice.scaled(1, spanMs)];
  return messages.map((message) =>
    message.poison !== undefined && dice.chance(share)
      ? { ...message, healsAt: Math.floor(from * spanMs + dice.next() * within) }
      : message,
  );
}

/** A source that hands out what is not as others are. */
function odd(dice: Dice, messages: readonly PlannedMessage[]): readonly PlannedMessage[] {
  const share = (most: number): number => (dice.chance(0.2) ? dice.next() * most : 0);
  const [twins, forms, expiring, filtered] = [share(0.3), share(0.2), share(0.5), share(0.3)];
  const lastsMs = dice.scaled(100, 120_000);
  return messages.map((message) => {
    if (message.inject !== undefined) return message;
    return {
      ...message,
      ...(dice.chance(twins) && { id: `twin-${Math.floor(message.number / dice.whole(2, 3))}` }),
      ...(dice.chance(forms) && { form: dice.pick(FORMS) }),
      ...(dice.chance(expiring) && { expiresAt: message.at + dice.whole(1, lastsMs) }),
      ...(dice.chance(filtered) && { filtered: true as const }),
    };
  });
}

function drawPolicies(dice: Dice): Pick<Plan, "dropsExpired" | "keepsFiltered" | "rate"> {
  return {
    ...(dice.chance(0.3) && { dropsExpired: true }),
    ...(dice.chance(0.5) && { keepsFiltered: true }),
    ...(dice.chance(0.15) && { rate: dice.scaled(2, 200) }),
  };
}

/** Whoever lends messages counts how often; whoever resumes sessions only hears that a message is done, and has one client. */
function drawBroker(dice: Dice, { instances, exclusive }: Many): BrokerHabits {
  const habits = {
    latencyMs: dice.scaled(1, 300),
    confirms: dice.chance(0.5),
    releasable: dice.chance(0.5),
    counts: dice.chance(0.5),
  };
  const own = dice.fork("loans");
  if (!own.chance(0.7)) return { ...habits, counts: true, loanMs: own.scaled(3_000, 60_000) };
  if ((instances > 1 && !exclusive) || !own.chance(0.4)) return habits;
  return { ...habits, confirms: false, releasable: false, counts: false, resumes: true };
}

function drawCallers(dice: Dice): CallerHabits | undefined {
  if (!dice.chance(0.15)) return undefined;
  return {
    latencyMs: dice.scaled(1, 300),
    patienceMs: dice.scaled(3_000, 60_000),
    responseTimeoutMs: dice.scaled(3_000, 60_000),
    keyed: dice.chance(0.6),
    ...(dice.chance(0.4) && { repeats: dice.whole(0, 5) }),
  };
}

function drawOutbox(dice: Dice): OutboxHabits | undefined {
  if (dice.chance(0.5)) return undefined;
  return {
    latencyMs: dice.scaled(1, 100),
    shared: dice.chance(0.5),
    maxRecords: dice.chance(0.2) ? dice.scaled(3, 1_000) : 100_000,
  };
}

interface Many {
  readonly instances: number;
  /** Whether one at a time has the session of the source. */
  readonly exclusive: boolean;
}

function drawMany(dice: Dice, alone: number): Many {
  return { instances: dice.chance(alone) ? 1 : dice.whole(2, 3), exclusive: dice.chance(0.3) };
}

interface Parts extends Many {
  readonly outbox: boolean;
  /** Whether the outbox is a file. */
  readonly hangs: boolean;
  readonly jobs: boolean;
}

function drawFaults(dice: Dice, spanMs: number, parts: Parts): readonly Fault[] {
  const { outbox, hangs, jobs, exclusive, instances } = parts;
  // Of a machine that stands still and whose time of day is set, no clock shows how long it stood.
  const machines = exclusive && dice.chance(0.5);
  const kinds = [
    "reload" as const,
    "reload" as const,
    ...KINDS.filter((kind) => kind !== "jump" || !machines),
    ...(outbox ? (["outbox-down", "outbox-down", "outbox-crash", "move", "move"] as const) : []),
    // A file only hangs, and that has to last until nobody waits for it any more.
    ...(hangs ? (["outbox-down", "outbox-down", "outbox-down"] as const) : []),
    ...(exclusive ? (["leases-down", "freeze"] as const) : []),
    // What is sent under a lease has to end in time, however late the store answers.
    ...(exclusive && !outbox ? (["leases-down", "leases-down", "leases-down"] as const) : []),
  ] as const;
  const edges = [
    "broker",
    "target",
    "dlq",
    ...(outbox ? (["outbox"] as const) : []),
    ...(exclusive ? (["leases"] as const) : []),
    // What is written of a lease may come when another has it.
    ...(exclusive && !outbox ? (["leases"] as const) : []),
  ] as const;
  const drawn = (kind: Fault["kind"]): Fault => {
    const fault = drawFault(dice, spanMs, { kind, edges, machines, outbox });
    return instances === 1 ? fault : { ...fault, instance: dice.whole(0, instances - 1) };
  };
  const most = jobs ? 8 : 20;
  const faults = Array.from({ length: dice.chance(0.1) ? 0 : dice.scaled(3, most) }, () =>
    drawn(dice.pick(["kill", ...kinds])),
  ).toSorted((a, b) => a.at - b.at);
  const all = followed(dice.fork("followed"), closer(dice, faults), (kind) =>
    drawFault(dice.fork(kind), spanMs, { kind, edges, machines, outbox }),
  );
  const amid = instances === 1 ? AMID_JOBS : AMID_SHARED_JOBS;
  if (jobs)
    all.push(...drawCampaigns(dice.fork("jobs"), spanMs, amid, (kind) => drawn(kind ?? dice.pick(["kill", ...kinds]))));
  return all.toSorted((a, b) => a.at - b.at);
}

/** Jobs of the DLQ, each with what comes in its way while it is at work. */
function drawCampaigns(
  dice: Dice,
  spanMs: number,
  kinds: readonly [Fault["kind"], ...Fault["kind"][]],
  drawn: (kind?: Fault["kind"]) => Fault,
): readonly Fault[] {
  return Array.from({ length: dice.scaled(1, 4) }, () => {
    const at = Math.floor((0.2 + 0.8 * dice.next()) * spanMs);
    const amid = Array.from({ length: dice.scaled(1, 6) }, () => ({
      ...drawn(dice.chance(0.8) ? dice.pick(kinds) : undefined),
      at: at + (dice.chance(0.5) ? dice.scaled(10, 40_000) : dice.whole(500, 20_000)),
    }));
    return [{ ...drawn("job"), at }, ...amid];
  }).flat();
}

/** Some begin while what the one before has begun is still under way. */
function closer(dice: Dice, faults: readonly Fault[]): Fault[] {
  let before = 0;
  return faults.map((fault, index) => {
    const soon = index > 0 && dice.chance(0.3) ? before + dice.scaled(1, 3_000) : fault.at;
    before = Math.min(soon, fault.at);
    return { ...fault, at: before };
  });
}

/** After some comes soon what meets the same instance while they are under way. */
function followed(dice: Dice, faults: readonly Fault[], drawn: (kind: Fault["kind"]) => Fault): Fault[] {
  return faults.flatMap((fault) => {
    const next = SOON[fault.kind];
    if (next === undefined || !dice.chance(0.3)) return [fault];
    const { instance } = fault;
    const soon = { ...drawn(next), at: fault.at + dice.scaled(1, 2_000) };
    return [fault, instance === undefined ? soon : { ...soon, instance }];
  });
}

/** As often longer than most bounds of the engine as shorter. */
function lasting(dice: Dice): number {
  return dice.chance(0.6) ? dice.scaled(10, 60_000) : dice.whole(5_000, dice.chance(0.2) ? 200_000 : 60_000);
}

interface Choice {
  readonly kind: Fault["kind"];
  readonly edges: readonly [Edge, ...Edge[]];
  readonly machines: boolean;
  readonly outbox: boolean;
}

function drawFault(dice: Dice, spanMs: number, { kind, edges, machines, outbox }: Choice): Fault {
  const span = { at: Math.floor(dice.next() * spanMs), forMs: lasting(dice) };
  switch (kind) {
    case "cut":
      return { ...span, kind, forMs: 0, noticedAfterMs: dice.scaled(1, 30_000) };
    case "redrive":
      return { ...span, kind, forMs: 0, entries: dice.scaled(1, 100), callers: dice.scaled(1, 3) };
    case "discard":
      return { ...span, kind, forMs: 0, entries: dice.scaled(1, 100) };
    case "move":
      return { ...span, kind, forMs: 0, records: dice.scaled(1, 30), callers: dice.scaled(1, 3) };
    case "target-cut":
      return { ...span, kind, forMs: 0, noticedAfterMs: dice.scaled(1, 30_000) };
    case "target-down":
    case "dlq-down":
      return { ...span, kind, answers: dice.pick(ANSWERS) };
    case "outbox-down":
      return { ...span, kind, answers: dice.pick([...ANSWERS, "torn", "full"]) };
    case "leases-down":
      return { ...span, kind, answers: dice.pick([...ANSWERS, "slow", "slow", "slow"]) };
    case "freeze":
      // Longer than most leases last.
      return { ...span, kind, forMs: dice.whole(1_000, 60_000), machine: machines && dice.chance(0.5) };
    case "link":
      return { ...span, kind, edge: dice.pick(edges), ways: dice.pick([[">"], ["<"], [">", "<"]]) };
    case "outbox-crash":
      return { ...span, kind, forMs: 0 };
    case "jump":
      return { ...span, kind, forMs: 0, ms: dice.whole(-3_600_000, 3_600_000) };
    case "job":
      return { ...span, kind, forMs: 0, job: drawJob(dice), callers: dice.scaled(1, 2) };
    case "job-call":
      return { ...span, kind, forMs: 0, ask: drawJobAsk(dice), callers: dice.scaled(1, 2) };
    case "reload":
      return { ...span, kind, change: drawChange(dice, outbox) };
    case "kill":
    case "broker-down":
    case "stop":
    case "pause":
      return { ...span, kind };
    case "commit":
    case "by-hand":
    case "document-down":
    case "document-away":
    case "restart":
      throw new Error(`${kind} is drawn where there is a document`);
  }
}

function drawChange(dice: Dice, outbox: boolean): Change {
  const what = dice.pick<"policy" | "rate" | "renamed" | "removed" | "mode">([
    "policy",
    "rate",
    "renamed",
    "removed",
    ...(outbox ? (["mode", "mode"] as const) : []),
  ]);
  switch (what) {
    case "policy":
      return { what, policy: { max_in_flight: dice.scaled(1, 100), backoff: { jitter: dice.next() } } };
    case "rate":
      return { what, perSecond: dice.scaled(1, 1_000) };
    case "renamed":
    case "removed":
    case "mode":
      return { what };
  }
}

interface Drawn extends Pick<Plan, "dropsExpired" | "keepsFiltered" | "rate"> {
  readonly filters: boolean;
  readonly bindings: readonly string[];
  readonly maxReplayAttempts: number;
  readonly sendTimeoutMs: number;
  readonly drops: boolean;
  readonly outbox: OutboxHabits | undefined;
  /** Whether senders sit on a session. */
  readonly linked: boolean;
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

function documentOf(dice: Dice, drawn: Drawn): BridgeDocument {
  const { bindings, maxReplayAttempts, sendTimeoutMs, drops, outbox, linked, instances, exclusive, jobs, called } =
    drawn;
  const { ttlMs } = drawn;
  const { filters, dropsExpired = false, keepsFiltered = false, rate } = drawn;
  const limit = rate === undefined ? {} : { rate_limit: { messages_per_second: rate, burst: dice.scaled(1, 50) } };
  const [ofRoute, ofSender] = dice.chance(0.5) ? [limit, {}] : [{}, limit];
  const drainS = dice.whole(5, 30);
  return {
    bridge: {
      id: "simulated",
      // Nobody here looks them up, and each instance would have megabytes.
      recent_legs: 1_000,
      ...(instances > 1 && { deployment_mode: "clustered" }),
      ...((exclusive || (jobs && instances > 1)) && { lease_ttl: `${ttlMs}ms` }),
      ...(exclusive && { lease_poll_interval: `${dice.scaled(200, 5_000)}ms` }),
      drain_timeout: `${drainS}s`,
      shutdown_timeout: `${drainS + dice.whole(5, 30)}s`,
    },
    stores: {
      dlq: { type: "simulated" },
      ...(outbox !== undefined && { outbox: { type: "simulated" } }),
      ...(exclusive && { lease: { type: "simulated" } }),
    },
    sessions: [
      ...(called
        ? []
        : [{ id: "session", transport: "simulated", session_mode: exclusive ? "exclusive" : "persistent" } as const]),
      ...(linked ? [{ id: "targets", transport: "linked", session_mode: "ephemeral" } as const] : []),
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
