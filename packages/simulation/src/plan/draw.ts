import { Dice } from "../dice.ts";
import { drawChange, drawOtherChange, withOtherChanges } from "./draw-changes.ts";
import { withDress } from "./draw-dress.ts";
import { withDocuments } from "./draw-documents.ts";
import { drawFaults } from "./draw-faults.ts";
import { withDeletions } from "./draw-deletions.ts";
import { withHurries } from "./draw-hurries.ts";
import { drawBroker, drawCallers, drawMany, drawOutbox, drawPolicies } from "./draw-habits.ts";
import { withLooks } from "./draw-looks.ts";
import { withGate, withProgram } from "./draw-programs.ts";
import { withQuarantines } from "./draw-quarantines.ts";
import { withSecondProcess } from "./draw-second-process.ts";
import { withSingles } from "./draw-singles.ts";
import { withSlips } from "./draw-slips.ts";
import { drawLeaseTimes, lateLeasesMs, usualTtlMs } from "./draw-lease-times.ts";
import { drawMessages, failing, healing, odd, withInjects } from "./draw-messages.ts";
import { withMoments } from "./draw-moments.ts";
import { documentOf } from "./drawn-document.ts";
import type { Plan } from "./plan.ts";

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
  const kinds = dice.fork("faults");
  const bindings = dice.chance(0.7) ? ["out-0"] : ["out-0", "out-1", "out-2"].slice(0, dice.whole(2, 3));
  const linked = dice.chance(0.4);
  const maxReplayAttempts = dice.scaled(1, 10);
  const drops = dice.chance(jobs ? 0.1 : 0.25);
  const sendTimeoutMs = dice.scaled(100, 30_000);
  // One route goes over one exclusive session.
  const leasesTargets = linked && !many.exclusive && dice.fork("leased targets").chance(0.5);
  const isLeased = many.exclusive || leasesTargets;
  const sendsLeased = leasesTargets || (many.exclusive && outbox === undefined);
  const leases = sendsLeased ? drawLeaseTimes(dice.fork("lease times"), sendTimeoutMs) : undefined;
  const faults = drawFaults(kinds, spanMs, {
    outbox: outbox !== undefined,
    hangs: outbox?.shared === false,
    jobs,
    instances: many.instances,
    leased: isLeased,
    sendsLeased,
  });
  const isLate = outbox !== undefined && dice.fork("late leases").chance(0.4);
  const wrong = (most: number): number => (dice.chance(0.5) ? dice.next() * most : 0);
  const drawn: Plan = {
    seed,
    document: documentOf(dice.fork("document"), {
      bindings,
      maxReplayAttempts,
      sendTimeoutMs,
      drops,
      outbox,
      linked,
      leasesTargets,
      jobs,
      ttlMs: leases?.ttlMs ?? usualTtlMs(isLeased ? sendTimeoutMs : 0),
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
    ...(isLeased && {
      leases: {
        latencyMs: leases?.latencyMs ?? (isLate ? lateLeasesMs(sendTimeoutMs) : dice.scaled(1, 300)),
        ...(leasesTargets && { of: "targets" as const }),
      },
    }),
    instances: many.instances,
    calmAt: Math.max(spanMs, ...faults.map(({ at, forMs }) => at + forMs)),
  };
  const plan = withDress(dice.fork("dress"), drawn);
  const parts = { outbox: outbox !== undefined, jobs };
  const changes = withOtherChanges(dice.fork("changes"), plan, parts);
  const documents = withDocuments(dice.fork("documents"), changes, (of) =>
    of.chance(0.4) ? drawOtherChange(of, parts) : drawChange(of, parts.outbox),
  );
  const program = withProgram(dice.fork("program"), documents);
  const slips = withSlips(dice.fork("slips"), withSingles(dice.fork("singles"), program));
  const second = withSecondProcess(dice.fork("second process"), slips);
  const quarantines = withQuarantines(dice.fork("quarantines"), second);
  const looks = withLooks(dice.fork("looks"), quarantines);
  const moments = withMoments(dice.fork("moments"), looks);
  const hurries = withHurries(dice.fork("hurries"), moments);
  const deletions = withDeletions(dice.fork("deletions"), hurries);
  return withGate(dice.fork("gate"), withEstimates(dice.fork("estimates"), deletions));
}

/** Some stores count by groups only about. */
function withEstimates(dice: Dice, plan: Plan): Plan {
  if (plan.dlq.parts !== true || !dice.chance(0.25)) return plan;
  return { ...plan, dlq: { ...plan.dlq, estimates: true } };
}
