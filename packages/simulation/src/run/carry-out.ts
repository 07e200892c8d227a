import { changed } from "../plan/change.ts";
import type { Fault } from "../plan/plan.ts";
import type { DeadLetters } from "../model/dead-letters.ts";
import type { Outbox } from "../model/outbox.ts";
import type { Instance } from "./instance.ts";
import type { Instances } from "./instances.ts";
import { quarantine } from "./quarantine.ts";
import type { World } from "./world.ts";

/** A broker that hears nothing of a client for so long drops its connection. */
const KEEPALIVE_MS = 15_000;

/** What is refused, because nothing runs or the store is away, is asked for another time. */
function redrive(
  { supervisor, owner }: Instance,
  entries: ReturnType<DeadLetters["oldest"]>,
  { auditor }: World,
): void {
  for (const { number } of entries.values()) auditor.letters.redriven(number);
  auditor.jobs.letters.askedFor(entries.keys());
  supervisor.redrive([...entries.keys()]).then(
    ({ errors }) => {
      const failed = new Set(errors.map(({ id }) => id));
      if (owner.alive) auditor.letters.toldRedriven([...entries.keys()].filter((id) => !failed.has(id)));
    },
    () => {},
  );
}

function move({ supervisor, owner }: Instance, records: ReturnType<Outbox["oldest"]>, { auditor }: World): void {
  for (const { number, bindingId } of records.values()) auditor.outbox.moves(number, bindingId);
  supervisor.deadLetterRecords([...records.keys()]).then(
    ({ moved }) => {
      if (owner.alive) auditor.outbox.moveCount += moved;
    },
    () => {},
  );
}

/** By so many at once, each at an instance of its own, where there are several. */
function bySeveral({ live }: Instances, callers: number, ask: (at: Instance) => void): void {
  for (let caller = 0; caller < callers; caller++) {
    const at = live[caller % Math.max(1, live.length)];
    at?.asked(() => ask(at));
  }
}

/** Lets a fault begin; what is returned ends it. What an operator does to an instance that is gone is done to none. */
export function carryOut(fault: Fault, world: World, instances: Instances): () => void {
  const { broker, target, dlq, outbox, leases, document, time } = world;
  const instance = instances.at(fault.instance);
  switch (fault.kind) {
    case "kill":
      instances.kill(fault.instance);
      return () => instances.begin(fault.instance);
    case "freeze":
      return instance?.freeze(fault.machine) ?? (() => {});
    case "link": {
      instance?.block(fault.edge, fault.ways, time.now + fault.forMs);
      if (fault.edge === "broker" && fault.forMs > KEEPALIVE_MS)
        time.at(time.now + KEEPALIVE_MS, () => instance?.cut(fault.forMs - KEEPALIVE_MS));
      return () => {};
    }
    case "cut":
      instance?.cut(fault.noticedAfterMs);
      return () => {};
    case "target-cut":
      instance?.cutFromTargets(fault.noticedAfterMs);
      return () => {};
    case "broker-down":
      broker.down = true;
      for (const each of instances.live) each.cut(0);
      return () => void (broker.down = false);
    case "target-down":
      target.down = fault.answers;
      return () => void (target.down = undefined);
    case "dlq-down":
      dlq.service.down = fault.answers;
      return () => void (dlq.service.down = undefined);
    case "outbox-down":
      outbox.service.down = fault.answers;
      return () => void (outbox.service.down = undefined);
    case "outbox-crash":
      outbox.service.crash();
      return () => {};
    case "leases-down":
      leases.service.down = fault.answers;
      return () => void (leases.service.down = undefined);
    case "stop":
      if (instance === undefined) return () => {};
      instances.stop(instance);
      return () => instances.start(instance);
    case "redrive": {
      const oldest = dlq.oldest(fault.entries);
      bySeveral(instances, fault.callers, (at) => redrive(at, oldest, world));
      return () => {};
    }
    case "discard": {
      const oldest = dlq.oldest(fault.entries);
      instance?.asked(() => dlq.discard(instance.owner, [...oldest.keys()]));
      return () => {};
    }
    case "redrive-one":
      instances.singles.redrive(instances.live, fault);
      return () => {};
    case "delete-one":
      instances.singles.delete(instance, fault.nth);
      return () => {};
    case "quarantine":
      return quarantine(() => instances.at(fault.instance) ?? instances.live[0], world, fault.oneIn);
    case "spoil-one":
      dlq.spoil(fault.nth);
      return () => {};
    case "slip":
      instances.slips.slip(instance, fault.slip, fault.nth);
      return () => {};
    case "move": {
      const oldest = outbox.oldest(fault.records);
      bySeveral(instances, fault.callers, (at) => move(at, oldest, world));
      return () => {};
    }
    case "job":
      instances.jobs.plan(fault.job, fault.callers);
      return () => {};
    case "job-call":
      instances.jobs.ask(fault.ask, fault.callers);
      return () => {};
    case "reload":
      return instances.reloads.begin(fault.instance ?? 0, fault.change);
    case "hurry":
      instances.reloads.hurry(fault.instance ?? 0, fault);
      return () => {};
    case "commit":
      return instances.commits.begin(fault.instance ?? 0, fault.commit);
    case "by-hand":
      if (fault.older !== undefined) document.older(fault.older);
      else if (fault.change !== undefined) document.byHand(changed(world.plan.document, [fault.change]));
      return () => {};
    case "document-down":
      document.service.down = fault.answers;
      return () => void (document.service.down = undefined);
    case "document-away":
      document.away = fault.how;
      return () => void (document.away = undefined);
    case "restart":
      instances.restart(fault.instance, fault.forMs);
      return () => {};
    case "second-process":
      instances.second.begin();
      return () => instances.second.end();
    case "pause":
      // Whoever follows a document may have another route in its place at any time.
      instance?.pause(world.plan.documents === undefined && !instances.reloads.redirects(fault.instance ?? 0));
      return () => instance?.resume();
    case "tap":
      return instances.looks.tap(instance, fault.tap);
    case "where":
      return instances.looks.where(instance, fault.everyMs, fault.messages);
    case "jump":
      instance?.clock.jump(fault.ms);
      return () => {};
  }
}
