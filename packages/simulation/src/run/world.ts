import { Dice } from "../dice.ts";
import { Broker } from "../model/broker.ts";
import { Callers } from "../model/callers.ts";
import { DeadLetters } from "../model/dead-letters.ts";
import { KeptDocument } from "../model/kept-document.ts";
import type { OpenSends } from "../model/gate.ts";
import { LateCalls } from "../model/late-calls.ts";
import { Leases } from "../model/leases.ts";
import { Outbox } from "../model/outbox.ts";
import { Target } from "../model/target.ts";
import { EPOCH, publication } from "../model/publication.ts";
import type { InstanceClock } from "../time/instance-clock.ts";
import type { OutboxHabits, Plan, PlannedMessage } from "../plan/plan.ts";
import { VirtualTime } from "../time/virtual-time.ts";
import { Trace } from "../trace.ts";
import { Auditor } from "./auditor.ts";
import { Moments } from "./moments.ts";
import { SendsSeen } from "./sends-seen.ts";

/** Everything around the instances; it survives them. */
export interface World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly auditor: Auditor;
  readonly broker: Broker;
  /** Present in place of the broker. */
  readonly callers: Callers | undefined;
  readonly target: Target;
  readonly dlq: DeadLetters;
  readonly outbox: Outbox;
  /** Those that a change of the configuration puts in their places. */
  readonly otherDlq: DeadLetters;
  readonly otherOutbox: Outbox;
  readonly leases: Leases;
  readonly document: KeptDocument;
  readonly sends: SendsSeen;
  /** By message: how often a processor has stumbled over it. */
  readonly stumbles: Map<number, number>;
  readonly lateCalls: LateCalls;
  readonly openSends: OpenSends;
  readonly moments: Moments;
  /** Of all instances that there have been. */
  readonly clocks: InstanceClock[];
  readonly dice: Dice;
}

/** What nobody asks has no habits that matter. */
const NO_OUTBOX: OutboxHabits = { latencyMs: 1, shared: false, maxRecords: 1 };

/** `keep`: the trace, for a story. */
export function worldOf(plan: Plan, keep: boolean): World {
  const time = new VirtualTime();
  const trace = new Trace(() => time.now, keep);
  const auditor = new Auditor(plan);
  const dice = new Dice(plan.seed).fork("world");
  const shared = { time, trace, auditor, moments: new Moments(time) };
  const leases = new Leases({ ...shared, dice: dice.fork("leases"), habits: plan.leases ?? { latencyMs: 1 } });
  const outboxNamed = (name: string): Outbox =>
    new Outbox({ ...shared, dice: dice.fork(name), habits: plan.outbox ?? NO_OUTBOX });
  const [outbox, otherOutbox] = [outboxNamed("outbox"), outboxNamed("other outbox")];
  const dlqNamed = (name: string): DeadLetters =>
    new DeadLetters({
      ...shared,
      dice: dice.fork(name),
      habits: plan.dlq,
      parts: plan.dlq.parts,
      estimates: plan.dlq.estimates,
    });
  const sends = new SendsSeen();
  auditor.ledger.now = sends.now = () => time.now;
  auditor.lease.holder = () => leases.holder;
  auditor.lease.until = () => leases.until;
  const clocks: InstanceClock[] = [];
  const messageOf = (number: number): PlannedMessage => plan.messages[number] ?? { number, at: 0 };
  auditor.ledger.latest = () => Math.max(0, ...clocks.map((clock) => clock.latest())) - EPOCH;
  auditor.targets.lent = (by, number, binding) => [outbox, otherOutbox].some((each) => each.lends(by, number, binding));
  return {
    plan,
    ...shared,
    leases,
    document: new KeptDocument({
      ...shared,
      dice: dice.fork("document"),
      habits: plan.documents ?? { latencyMs: 1, shared: false },
      document: plan.document,
    }),
    sends,
    stumbles: new Map(),
    lateCalls: new LateCalls(),
    openSends: new Map(),
    broker: new Broker({
      ...shared,
      dice: dice.fork("broker"),
      habits: plan.broker,
      messageOf: (number) => publication(messageOf(number)),
    }),
    callers: plan.callers && new Callers({ ...shared, dice: dice.fork("callers"), habits: plan.callers, messageOf }),
    target: new Target({ ...shared, dice: dice.fork("target"), plan }),
    dlq: dlqNamed("dlq"),
    otherDlq: dlqNamed("other dlq"),
    outbox,
    otherOutbox,
    clocks,
    dice: dice.fork("instances"),
  };
}
