import { type LogFields, silentLogger } from "@bridge/ports";
import { expect, test } from "vitest";
import type { Hook } from "../../src/hooks/bridge-hooks.ts";
import { CALL_MS, HookQueue, QUEUED } from "../../src/hooks/hook-queue.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

interface Line extends LogFields {
  readonly message: string;
}

function queueOf(hook: Hook<number>) {
  const clock = new FakeClock();
  const lines: Line[] = [];
  const line = (message: string, fields?: LogFields): void => void lines.push({ message, ...fields });
  const logger = { ...silentLogger, warn: line, error: line };
  const queue = new HookQueue<number>({ name: "onState", hook, clock, logger });
  const offer = (from: number, to: number): void => {
    for (let event = from; event < to; event++) queue.offer(() => event);
  };
  return { queue, clock, lines, offer };
}

/** Lets happen what takes no time. */
async function turns(): Promise<void> {
  for (let count = 0; count < 50; count++) await turn();
}

/** A hook that writes down what it is told. */
function listing(then: (event: number) => unknown = () => {}) {
  const seen: number[] = [];
  const hook: Hook<number> = (event) => {
    seen.push(event);
    return then(event);
  };
  return { seen, hook };
}

test("events are told in their order, one after another, and not in the turn in which they happen", async () => {
  const first = Promise.withResolvers<void>();
  const { seen, hook } = listing((event) => (event === 0 ? first.promise : undefined));
  const { clock, offer } = queueOf(hook);
  offer(0, 3);
  expect(seen).toEqual([]);
  await clock.advance(100);
  expect(seen).toEqual([0]);
  first.resolve();
  await clock.advance(100);
  expect(seen).toEqual([0, 1, 2]);
});

test("what waits is bounded: the oldest are lost, and counted, in one line and then one a minute", async () => {
  const first = Promise.withResolvers<void>();
  const { seen, hook } = listing((event) => (event === 0 ? first.promise : undefined));
  const { queue, clock, lines, offer } = queueOf(hook);
  offer(0, 1);
  await clock.advance(100);
  offer(1, QUEUED + 6);
  expect(queue.stats).toEqual({ hook: "onState", calls: 1, failures: 0, lost: 5 });
  await clock.advance(CALL_MS / 2);
  expect(lines.map(({ count }) => count)).toEqual([1]);
  first.resolve();
  await clock.advance(60_000);
  expect(lines).toEqual([
    { message: "events of a hook are lost: 1000 others wait", hook: "onState", count: 1 },
    { message: "events of a hook are lost: 1000 others wait", hook: "onState", count: 4 },
  ]);
  expect(seen.length).toBe(QUEUED + 1);
  expect(seen.slice(0, 2)).toEqual([0, 6]);
  await clock.advance(60_000);
  expect([lines.length, clock.pending]).toEqual([2, 0]);
});

test("what it throws is told with its stack, and is no reason to tell it nothing more", async () => {
  const { seen, hook } = listing((event) => {
    if (event % 2 === 0) throw new Error("rude");
    return Promise.reject(new Error("late"));
  });
  const { queue, clock, lines, offer } = queueOf(hook);
  offer(0, 6);
  await clock.advance(61_000);
  expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
  expect(queue.stats).toEqual({ hook: "onState", calls: 6, failures: 6, lost: 0 });
  expect(lines.map(({ message, error, count }) => [message, error, count])).toEqual([
    ["a hook failed: nothing else is affected", "rude", 1],
    ["a hook failed: nothing else is affected", "late", 5],
  ]);
  expect(lines[0]?.["stack"]).toContain("hook-queue.test.ts");
});

test("a call that does not end is given up, with its signal; ten that go on are all that there are", async () => {
  const signals: AbortSignal[] = [];
  const ends = Promise.withResolvers<void>();
  const { queue, clock, offer } = queueOf((_, { signal }) => {
    signals.push(signal);
    return ends.promise;
  });
  offer(0, 20);
  await clock.advance(CALL_MS - 1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  for (let passed = 0; passed < 30 * CALL_MS; passed += 1_000) await clock.advance(1_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual(Array.from({ length: 10 }, () => true));
  expect(queue.stats).toMatchObject({ calls: 10, failures: 10 });
  ends.resolve();
  await clock.advance(100);
  expect(signals.length).toBe(20);
});

test("a hook that holds up the event loop is told of, and rests nine times as long", async () => {
  let clock: FakeClock | undefined;
  const { seen, hook } = listing(() => clock?.skip(200));
  const made = queueOf(hook);
  ({ clock } = made);
  made.offer(0, 3);
  await turns();
  expect(seen).toEqual([0]);
  await clock.advance(9 * 200 - 10);
  expect(seen).toEqual([0]);
  await clock.advance(20);
  expect(seen).toEqual([0, 1]);
  expect(made.lines).toEqual([
    { message: "a hook held up the whole process", hook: "onState", held_ms: 200, count: 1 },
  ]);
});

test("at the end it has a bounded time for what waits, without rests; then nothing more is told", async () => {
  let clock: FakeClock | undefined;
  const quick = listing(() => clock?.skip(10));
  const patient = queueOf(quick.hook);
  ({ clock } = patient);
  patient.offer(0, 20);
  const ended = patient.queue.end(1_000);
  await turns();
  await ended;
  patient.offer(20, 21);
  await clock.advance(1_000);
  expect([quick.seen.length, clock.pending, patient.queue.stats.lost]).toEqual([20, 0, 0]);

  let given: AbortSignal | undefined;
  const mute = queueOf((_, { signal }) => {
    given = signal;
    return new Promise(() => {});
  });
  mute.offer(0, 5);
  await mute.clock.advance(1);
  const over = mute.queue.end(1_000);
  await mute.clock.advance(1_000);
  await over;
  await mute.clock.advance(0);
  expect([given?.aborted, mute.clock.pending, mute.queue.stats.lost]).toEqual([true, 0, 4]);
  expect(mute.lines).toEqual([
    { message: "events of a hook are lost: the bridge was shut down before their turn", hook: "onState", count: 4 },
  ]);
});
