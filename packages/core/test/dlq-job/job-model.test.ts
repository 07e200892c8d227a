import { times } from "@bridge/tooling/long";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JobCall } from "../../src/dlq-job/job.ts";
import { AT_ONCE } from "./job-bridge.ts";
import { ALL_STATES, JobWorld } from "./job-world.ts";

type Command = fc.AsyncCommand<object, JobWorld>;

function command(name: string, run: (world: JobWorld) => Promise<void> | void): Command {
  return {
    check: () => true,
    async run(_, world) {
      await run(world);
      await world.settle();
      await world.check();
    },
    toString: () => name,
  };
}

const HALTS = { failureRatio: 0.1, minAttempts: 5, consecutive: 3 } as const;
const planned = (kind: "redrive" | "purge", rate: number, undoWithinMs = 600_000): Command =>
  command(`plan a ${kind} at ${rate}/s`, (world) =>
    world.plan(kind, {
      settings: {
        ...AT_ONCE,
        rate,
        concurrency: 4,
        halt: HALTS,
        ramp: kind === "redrive" ? [1, 10] : [],
        rampPauseMs: 500,
      },
      ...(kind === "purge" && { undoWithinMs }),
    }),
  );
const called = (call: JobCall, nth: number, retry = false): Command =>
  command(`${call}${retry ? " with retry_failed" : ""} of job ${nth}`, (world) => world.call(nth, call, retry));
const fail = (count: number): Command => command(`${count} messages fail`, (world) => world.fail(count));
const pass = (ms: number): Command => command(`pass ${ms} ms`, (world) => world.pass(ms));
const hours = command("an hour", (world) => world.hours());
const target = (isBroken: boolean): Command =>
  command(isBroken ? "the target breaks" : "the target is repaired", (world) => void (world.isBroken = isBroken));
const store = (isAway: boolean): Command =>
  command(isAway ? "the store is away" : "the store is back", (world) => void (world.isAway = isAway));
const trash = (isStuck: boolean): Command =>
  command(isStuck ? "the trash is stuck" : "the trash is free", (world) => void (world.isTrashStuck = isStuck));
const stop = command("stop", (world) => world.stop());
const start = command("start", (world) => world.start());
const kill = command("kill", (world) => world.kill());
const spoil = (nth: number): Command => command(`the document of job ${nth} is spoiled`, (world) => world.spoil(nth));

const anyJob = fc.nat(3);
const anyCall = fc.constantFrom<JobCall>("start", "pause", "resume", "cancel", "undo", "change");
const calls = fc.tuple(anyCall, anyJob, fc.boolean()).map(([call, nth, retry]) => called(call, nth, retry));
const starts = anyJob.map((nth) => called("start", nth));
const plans = fc
  .tuple(
    fc.constantFrom("redrive" as const, "purge" as const),
    fc.constantFrom(2, 20, 500),
    fc.constantFrom(0, 600_000),
  )
  .map(([kind, rate, undo]) => planned(kind, rate, undo));
const passes = fc.integer({ min: 1, max: 6_000 }).map(pass);

/** Weighted by repetition. */
const COMMANDS = [
  plans,
  plans,
  starts,
  starts,
  calls,
  calls,
  calls,
  passes,
  passes,
  passes,
  fc.integer({ min: 1, max: 15 }).map(fail),
  fc.boolean().map(target),
  fc.boolean().map(store),
  fc.boolean().map(trash),
  fc.boolean().map((isUp) => (isUp ? start : stop)),
  fc.constant(kill),
  fc.nat(7).map((nth) => (nth > 3 ? pass(1_000) : spoil(nth))),
  fc.nat(7).map((nth) => (nth > 0 ? pass(500) : hours)),
];

async function opened(): Promise<JobWorld> {
  const world = new JobWorld();
  await world.fail(30);
  await world.clock.advance(1);
  await world.open();
  return world;
}

describe("operators 3.5.8: jobs of the engine in every state, under every call", () => {
  test(
    "are answered as the tables have it, whatever has happened, and nothing is lost, done twice or stuck",
    { timeout: 300_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40, size: "max" }), async (commands) => {
          const world = await opened();
          await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
          await expect(world.finish()).resolves.toBeUndefined();
        }),
        { numRuns: times(25, 300) },
      );
    },
  );

  test("one by one: all states, and in each of them all calls", async () => {
    const everyCall = (nth: number): readonly Command[] =>
      (["change", "undo", "pause", "resume", "start"] as const).map((call) => called(call, nth));
    const script: readonly Command[] = [
      // One that is left until it expires, and one whose document is spoiled.
      planned("redrive", 2),
      planned("redrive", 2),
      spoil(1),
      ...everyCall(1),
      called("cancel", 1),
      hours,
      ...everyCall(0),
      called("cancel", 0),
      // One that halts, is paused, runs, waits and is complete.
      target(true),
      planned("redrive", 20),
      called("change", 2),
      called("undo", 2),
      called("pause", 2),
      called("resume", 2),
      called("start", 2),
      pass(2_000),
      called("start", 2),
      called("change", 2),
      called("undo", 2),
      called("pause", 2),
      pass(1_000),
      called("start", 2),
      called("pause", 2),
      called("change", 2),
      target(false),
      called("resume", 2, true),
      pass(200),
      ...everyCall(2),
      stop,
      pass(4_000),
      called("resume", 2),
      called("start", 2),
      called("change", 2),
      called("undo", 2),
      start,
      pass(60_000),
      ...everyCall(2),
      called("cancel", 2),
      // A purge that is cancelled in its middle and taken back.
      fail(30),
      pass(1),
      planned("purge", 2),
      called("start", 3),
      pass(3_000),
      called("cancel", 3),
      pass(2_000),
      called("cancel", 3),
      ...everyCall(3).filter((_, nth) => nth !== 1),
      trash(true),
      called("undo", 3),
      ...everyCall(3),
      called("cancel", 3),
      trash(false),
      pass(5_000),
      ...everyCall(3),
      called("cancel", 3),
    ];
    const world = await opened();
    for (const step of script) await step.run({}, world);
    await world.finish();
    expect(world.states).toEqual(ALL_STATES);
  });
});
