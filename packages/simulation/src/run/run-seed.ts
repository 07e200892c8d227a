import type { Supervisor } from "@bridge/core";
import { draw } from "../plan/draw.ts";
import { changesOf, type Fault, type Plan } from "../plan/plan.ts";
import { watchStop } from "./budgets.ts";
import { carryOut } from "./carry-out.ts";
import type { Instance } from "./instance.ts";
import { Injects } from "./injects.ts";
import { Instances } from "./instances.ts";
import { isLook } from "./looks.ts";
import type { Owner } from "../time/virtual-time.ts";
import { type Places, placesOf } from "./places.ts";
import { Versions } from "./versions.ts";
import { Watcher } from "./watcher.ts";
import { type World, worldOf } from "./world.ts";

/** After the last fault everything has to be done within this, and what its edges need for the messages one after another. */
const CALM_MS = 20 * 60_000;
/** One message goes so often over each edge, there and back; a try that fails comes again. */
const WAYS = 4;
/** When all is done, an instance may still wait so long for answers that do not come. */
const UNHEARD_MS = 2 * 60_000;
/** What is at rest is looked at for so long. */
const REST_MS = 10_000;
const SHUTDOWN_MS = 5 * 60_000;
/** The one route has one on a connection; those that it has replaced have none. */
const MOST_LISTENERS = 1;

export interface SeedRun {
  readonly plan: Plan;
  /** The promises that did not hold; empty when all did. */
  readonly violations: readonly string[];
  /** Where its messages are at the end. */
  readonly places: Places;
  /** SHA-256 of all that happened. */
  readonly digest: string;
  /** Everything that happened, if it was to be kept. */
  readonly trace: readonly string[];
  readonly instances: number;
  readonly virtualMs: number;
}

/** Runs what a seed decides, and then checks every promise. */
export function runSeed(seed: number, keepsTrace = false): Promise<SeedRun> {
  return runPlan(draw(seed), keepsTrace);
}

/** Runs a plan that comes from a seed, or from a file. */
export async function runPlan(plan: Plan, keepsTrace = false): Promise<SeedRun> {
  const world = worldOf(plan, keepsTrace);
  const instances = new Instances(world);
  try {
    await run(world, instances);
  } catch (error) {
    world.auditor.violated(error instanceof Error ? error.message : String(error));
  }
  instances.killAll();
  await world.leases[Symbol.asyncDispose]();
  const { trace, auditor, time } = world;
  return {
    plan,
    violations: auditor.violations,
    places: placesOf(world),
    digest: trace.digest(),
    trace: trace.lines,
    instances: instances.count,
    virtualMs: time.now,
  };
}

async function run(world: World, instances: Instances): Promise<void> {
  const { plan, time, trace, broker, callers, target, outbox, auditor, moments } = world;
  const injects = new Injects(world);
  const watcher = new Watcher(world, instances);
  for (const { number, at, inject } of plan.messages)
    time.at(at, () => {
      if (inject === undefined) (callers ?? broker).publish(number);
      else injects.inject(instances.at(inject.instance), number, inject);
    });
  for (const fault of plan.faults) {
    const begin = (): void => {
      trace.add(`fault: ${nameOf(fault)} while ${statesOf(instances)}`);
      if (!isLook(fault)) watcher.disturbs(fault);
      const over = carryOut(fault, world, instances);
      time.at(time.now + fault.forMs, over);
    };
    time.at(fault.at, () => moments.begins(fault, () => instances.at(fault.instance)?.owner, begin));
  }
  const versions = new Versions(world, instances);
  outbox.asked = (by) => noneNegative(world, instances, by);
  instances.beginAll();
  watcher.begin();
  instances.triedLetters.lookAfter();
  instances.undelivered.lookAfter();
  instances.leftStores.lookAfter();
  await time.pass(plan.calmAt + 1);
  target.moody = false;
  instances.jobs.lookAfter();
  instances.commits.lookAfter();
  const idle = (): boolean =>
    broker.empty &&
    callers?.empty !== false &&
    outbox.empty &&
    world.otherOutbox.empty &&
    instances.reloads.done &&
    injects.done &&
    instances.jobs.done &&
    instances.commits.done &&
    instances.leftStores.done;
  const { rate = Infinity } = plan;
  const limited = (plan.bindings.length * 1_000) / rate;
  const calmMs = CALM_MS + plan.messages.length * WAYS * (longestWay(plan) + limited);
  await time.pass(plan.calmAt + calmMs, idle);
  if (!idle())
    auditor.violated(`${Math.round(calmMs / 60_000)} minutes after the last fault there is still something to do`);
  instances.leftStores.rests();
  // One whose store does not always answer in time may end at any time, and the next one begins.
  const allRun = (): boolean => instances.live.length >= (plan.instances ?? 1);
  const allAtRest = (): boolean => allRun() && instances.live.every(({ supervisor }) => isAtRest(supervisor));
  // An answer that was lost is waited for.
  await time.pass(time.now + UNHEARD_MS, allAtRest);
  await time.pass(time.now + REST_MS);
  // So is one that nobody needs any more: to a dead letter whose record another has delivered meanwhile.
  await time.pass(time.now + UNHEARD_MS, allAtRest);
  const last = instances.live;
  if (!allRun()) throw new Error("not all instances run when the faults are over");
  for (const instance of last) {
    atRest(world, instance);
    instances.looks.atRest(instance);
  }
  versions.atRest();
  // Of those that were killed nobody has the books.
  if (instances.count === last.length) compareBooks(world, last);
  instances.replaceNoMore();
  for (const instance of last) {
    watcher.ends();
    if (instance.owner.alive) await end(world, instance);
  }
  if (broker.connections > 0) auditor.violated("after the shutdown there is still a connection to the broker");
  auditor.close();
}

function nameOf(fault: Fault): string {
  if (fault.kind === "commit") return `commit (${fault.commit.change.what}, ${fault.commit.trial?.next ?? "to stay"})`;
  return fault.kind === "reload" ? `reload (${fault.change.what})` : fault.kind;
}

/** The states of the engine that a fault meets. */
function statesOf({ live }: Instances): string {
  const states = live.map(({ supervisor }) => supervisor.view().state);
  return states.length === 0 ? "gone" : [...new Set(states)].toSorted().join(" and ");
}

function isAtRest(supervisor: Supervisor): boolean {
  const { routes, legs } = supervisor.stats();
  if (routes.some(({ inFlight }) => inFlight > 0) || legs.some(({ inOutbox }) => inOutbox !== 0)) return false;
  return isWell(supervisor);
}

/** One that waits for a lease, which another has, is as far as it may be. */
function isWell(supervisor: Supervisor): boolean {
  const { level, health, role } = supervisor.view();
  return health === "ok" && (level === "full" || (role === "standby" && level === "subscribed"));
}

/** Of an instance at work: no book says that there is less than nothing. */
function noneNegative({ auditor }: World, { live }: Instances, by: Owner): void {
  const instance = live.find(({ owner }) => owner === by);
  if (instance === undefined) return;
  const { legs, routes } = instance.supervisor.stats();
  for (const { bindingId, inFlight, inOutbox } of legs)
    if (inFlight < 0 || inOutbox < 0)
      auditor.violated(`by the books ${inFlight} legs to ${bindingId} are in flight and ${inOutbox} in the outbox`);
  for (const { routeId, inFlight } of routes)
    if (inFlight < 0) auditor.violated(`by the books ${inFlight} slots of ${routeId} are taken`);
}

/** Invariants 1, 7 and 9, of an instance that has nothing to do. */
function atRest(world: World, { supervisor, name, listeners, owner }: Instance): void {
  const { auditor } = world;
  const openSends = world.openSends.get(owner) ?? 0;
  if (listeners > MOST_LISTENERS) auditor.violated(`at rest ${name} has ${listeners} listeners on one connection`);
  const { legs, routes, unaccounted } = supervisor.stats();
  const view = supervisor.view();
  if (unaccounted !== 0) auditor.violated(`the books do not add up: ${unaccounted} legs are unaccounted for`);
  for (const { routeId, inFlight } of routes)
    if (inFlight !== 0) auditor.violated(`at rest ${inFlight} slots of ${routeId} are taken`);
  for (const { bindingId, inFlight } of legs)
    if (inFlight !== 0) auditor.violated(`at rest ${inFlight} legs to ${bindingId} are in flight`);
  if (openSends > 0) auditor.violated(`at rest a gate of ${name} has not heard how ${openSends} sends have ended`);
  if (!isWell(supervisor))
    auditor.violated(`at rest ${name} is ${view.health} and its level is ${view.level}, as ${view.role}`);
  if (view.refusedChange !== undefined)
    auditor.violated(`at rest ${name} says that its newest configuration is not in force: ${view.refusedChange}`);
  for (const { bindingId, inOutbox } of legs)
    if (inOutbox !== 0) auditor.violated(`at rest ${inOutbox} legs to ${bindingId} are in the outbox, by the books`);
}

/** What all of them together have booked as delivered is what the edges have seen. */
function compareBooks({ auditor, plan }: World, instances: readonly Instance[]): void {
  const { outbox } = plan;
  const legs = instances.flatMap(({ supervisor }) => supervisor.stats().legs);
  const delivered = legs.reduce((sum, { dispositions }) => sum + dispositions.delivered, 0);
  const both = changesOf(plan).some(({ what }) => what === "mode");
  // What is sent directly for a time, and what comes again through the outbox, is counted once by nobody.
  if (outbox !== undefined && both && delivered <= auditor.targets.heard + auditor.outbox.done) return;
  const counted = outbox === undefined ? auditor.targets.heard : auditor.outbox.done;
  // Of what a shared outbox has as done, and has not said so, nobody knows who it was.
  if (delivered > counted || (delivered < counted && outbox?.shared !== true))
    auditor.violated(
      `${delivered} legs are booked as delivered, ${auditor.targets.heard} acceptances were heard, and the outbox has ${auditor.outbox.done} as done`,
    );
}

/** Shuts an instance down. Invariant 9: nothing of it is left. */
async function end(world: World, instance: Instance): Promise<void> {
  const { time, auditor } = world;
  const { owner } = instance;
  let over = false;
  const ended = watchStop(world, instance, "shutdown");
  const shutDown = async (): Promise<void> => {
    instance.recorder?.[Symbol.dispose]();
    await instance.end(ended);
  };
  shutDown().then(
    () => {
      over = true;
    },
    (error: unknown) => {
      over = true;
      auditor.violated(`the shutdown failed: ${String(error)}`);
    },
  );
  await time.pass(time.now + SHUTDOWN_MS, () => over);
  if (!over) return auditor.violated(`the shutdown has not ended after ${SHUTDOWN_MS / 60_000} minutes`);
  await time.pass(time.now + REST_MS);
  if (instance.connections > 0)
    auditor.violated(`after the shutdown ${instance.connections} connections to the broker are open`);
  if (owner.pending > 0) auditor.violated(`after the shutdown ${owner.pending} timers are left`);
}

/** Over all edges that a message may take. */
function longestWay({ broker, callers, target, dlq, outbox }: Plan): number {
  return (callers ?? broker).latencyMs + target.latencyMs + dlq.latencyMs + (outbox?.latencyMs ?? 0);
}
