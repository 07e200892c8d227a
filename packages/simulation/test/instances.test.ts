import { expect, test } from "vitest";
import { draw, type Plan, runPlan } from "../src/index.ts";
import { Auditor } from "../src/run/auditor.ts";
import { Instance } from "../src/run/instance.ts";
import { worldOf } from "../src/run/world.ts";
import { InstanceClock } from "../src/time/instance-clock.ts";
import { type Owner, VirtualTime } from "../src/time/virtual-time.ts";

function instance() {
  const time = new VirtualTime();
  const owner: Owner = { name: "one", alive: true, pending: 0 };
  const clock = new InstanceClock({ time, owner, epoch: 0, rate: 1, phase: () => 0 });
  const seen: string[] = [];
  const note = (what: string) => (): void => void seen.push(`${what} at ${time.now}`);
  return { time, owner, clock, seen, note };
}

test("what is due to an instance that stands still comes when it goes on, in its order, and what is called off does not", async () => {
  const { time, owner, clock, seen, note } = instance();
  clock.after(10, note("timer"));
  const off = clock.after(15, note("called off"));
  time.reach(owner, 20, note("answer"));
  clock.after(200, note("later"));
  time.freeze(owner);
  await time.pass(100);
  expect(seen).toEqual([]);
  off[Symbol.dispose]();
  time.thaw(owner);
  await time.pass(300);
  expect(seen).toEqual(["timer at 100", "answer at 100", "later at 200"]);
  expect(owner.pending).toBe(0);
});

test("of a machine that stands still only the time of day shows it, and its timers wait for their time", async () => {
  const { time, owner, clock, seen, note } = instance();
  clock.after(50, note("timer"));
  await time.pass(10);
  time.freeze(owner);
  await time.pass(110);
  clock.stoodStill(100);
  time.thaw(owner);
  expect([clock.monotonic(), clock.now()]).toEqual([10, 110]);
  await time.pass(300);
  expect(seen).toEqual(["timer at 150"]);
});

test("whoever follows one document after a restart knows the time as the process before it did", async () => {
  const world = worldOf({ ...draw(1), documents: { latencyMs: 1, shared: true } }, false);
  const before = new Instance(world, "before", 0);
  await world.time.pass(600_000);
  const after = new Instance(world, "after", 0);
  // Each of them may drift by a hundredth.
  expect(Math.abs(after.clock.now() - before.clock.now())).toBeLessThan(6_000);
  expect(after.clock.monotonic()).toBe(0);
});

test("a process that ends when all is at rest, as one may that has lost its lease, is waited for until the next one runs", async () => {
  const kill = { kind: "kill", at: 8_000, forMs: 15_000 } as const;
  const { documents: _, ...drawn } = draw(1);
  const plan: Plan = { ...drawn, instances: 1, messages: [], faults: [kill], calmAt: 5_000 };
  const { violations, instances } = await runPlan(plan);
  expect({ violations, instances }).toEqual({ violations: [], instances: 2 });
});

test("whoever acts without the lease is told of, and whoever has it is not", () => {
  const { outbox: _, ...plan } = draw(1);
  const auditor = new Auditor({ ...plan, leases: { latencyMs: 1 } });
  auditor.lease.holder = () => "other";
  auditor.lease.acts({ name: "one", alive: true, pending: 0 }, "settles", 0);
  auditor.lease.acts({ name: "other", alive: true, pending: 0 }, "sends", 0);
  expect(auditor.violations).toEqual(["one settles 0 while other has the lease"]);
});
