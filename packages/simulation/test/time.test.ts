import { deadline } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { InstanceClock } from "../src/time/instance-clock.ts";
import { type Owner, VirtualTime } from "../src/time/virtual-time.ts";

function instance(rate = 1) {
  const time = new VirtualTime();
  const owner: Owner = { alive: true, pending: 0 };
  return { time, owner, clock: new InstanceClock({ time, owner, epoch: 1_000, rate, phase: () => 0 }) };
}

test("what is due happens at its time, in the order in which it was asked for, and what it sets off before time passes", async () => {
  const { time, clock } = instance();
  const seen: string[] = [];
  const note = (what: string) => (): void => void seen.push(`${what} at ${time.now}`);
  clock.after(20, note("late"));
  clock.after(10, () => void Promise.resolve().then(() => clock.turn(note("set off"))));
  clock.after(10, note("second"));
  await time.pass(100);
  expect(seen).toEqual(["set off at 10", "second at 10", "late at 20"]);
});

test("a clock that is fast is ahead, and its timers are early", async () => {
  const { time, clock } = instance(2);
  let fired = 0;
  clock.after(100, () => (fired = time.now));
  await time.pass(200);
  expect([fired, clock.monotonic(), clock.now()]).toEqual([50, 400, 1_400]);
  clock.jump(-400);
  expect([clock.monotonic(), clock.now()]).toEqual([400, 1_000]);
});

test("nothing of what is dead happens any more", async () => {
  const { time, owner, clock } = instance();
  let done = 0;
  clock.after(10, () => done++);
  clock.turn(() => done++);
  using _ = clock.every(5, () => done++);
  owner.alive = false;
  await time.pass(100);
  expect(done).toBe(0);
});

test("what is called off leaves nothing pending", async () => {
  const { time, owner, clock } = instance();
  const stop = new AbortController();
  const waiting = clock.delay(1_000, stop.signal);
  deadline(clock, 1_000, new Error("late"))[Symbol.dispose]();
  const ticking = clock.every(10, () => {});
  await time.pass(25);
  ticking[Symbol.dispose]();
  expect(owner.pending).toBe(1);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(owner.pending).toBe(0);
});

test("whoever never rests is told of", { timeout: 60_000 }, async () => {
  const { time, clock } = instance();
  const again = (): void => clock.turn(again);
  again();
  await expect(time.pass(1)).rejects.toThrow("there is still something to do");
});

test("whoever waits for what is left of a time gets there, however little that is", async () => {
  for (const rate of [0.99, 1, 1.01]) {
    const { time, clock } = instance(rate);
    const end = clock.monotonic() + 5_000.000_2;
    let waits = 0;
    const wait = (): void => {
      if (clock.monotonic() < end && ++waits < 100) clock.after(end - clock.monotonic(), wait);
    };
    wait();
    await time.pass(10_000);
    expect(waits).toBeLessThan(5);
  }
});
