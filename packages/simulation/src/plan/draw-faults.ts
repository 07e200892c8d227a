import type { Dice } from "../dice.ts";
import { drawFault } from "./draw-fault.ts";
import type { Many } from "./draw-habits.ts";
import type { Fault } from "./plan.ts";

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

/** What there is in a plan that something can happen to. */
interface Parts extends Pick<Many, "instances"> {
  readonly outbox: boolean;
  /** Whether the outbox is a file. */
  readonly hangs: boolean;
  readonly jobs: boolean;
  /** Whether there is an exclusive session. */
  readonly leased: boolean;
  /** Whether sends are under its lease. */
  readonly sendsLeased: boolean;
}

/** What goes wrong, and what operators do, in the order of time. */
export function drawFaults(dice: Dice, spanMs: number, parts: Parts): readonly Fault[] {
  const { outbox, hangs, jobs, leased, sendsLeased, instances } = parts;
  // Of a machine that stands still and whose time of day is set, no clock shows how long it stood.
  const machines = leased && dice.chance(0.5);
  const kinds = [
    "reload" as const,
    "reload" as const,
    ...KINDS.filter((kind) => kind !== "jump" || !machines),
    ...(outbox ? (["outbox-down", "outbox-down", "outbox-crash", "move", "move"] as const) : []),
    // A file only hangs, and that has to last until nobody waits for it any more.
    ...(hangs ? (["outbox-down", "outbox-down", "outbox-down"] as const) : []),
    ...(leased ? (["leases-down", "freeze"] as const) : []),
    // What is sent under a lease has to end in time, however late the store answers.
    ...(sendsLeased ? (["leases-down", "leases-down", "leases-down"] as const) : []),
  ] as const;
  const edges = [
    "broker",
    "target",
    "dlq",
    ...(outbox ? (["outbox"] as const) : []),
    ...(leased ? (["leases"] as const) : []),
    // What is written of a lease may come when another has it.
    ...(sendsLeased ? (["leases"] as const) : []),
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
