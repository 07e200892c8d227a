import { Turns } from "@bridge/ports/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DueLooks } from "../../src/route/due-looks.ts";
import { ProgressWatch } from "../../src/route/progress-watch.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { ImpatientClock } from "../support/impatient-clock.ts";
import { idleLane } from "./idle-lane.ts";

const LANE = idleLane("lane");

/** A clock whose timers fire when they are told to, all in one turn. */
class LateClock extends ImpatientClock {
  readonly ticks = new Set<() => void>();

  override every(_ms: number, tick: () => void): Disposable {
    this.ticks.add(tick);
    return { [Symbol.dispose]: () => void this.ticks.delete(tick) };
  }
}

test("finding 5.7: after a turn that took long, routes are looked at a few in a turn, each once", async () => {
  const clock = new LateClock();
  const looks = new DueLooks(clock);
  const seen = Array.from({ length: 50 }, () => 0);
  const watches = seen.map(
    (_, index) =>
      new ProgressWatch({
        clock,
        looks,
        sendTimeoutMs: 30_000,
        wayIn: LANE,
        waysOut: [LANE],
        standing: () => {
          seen[index] = (seen[index] ?? 0) + 1;
          return { obstacle: undefined, full: undefined };
        },
        changed: () => {},
        oldestUnsettledMs: () => 0,
      }),
  );
  const looked = (): number => seen.reduce((sum, one) => sum + one, 0);
  for (const watch of watches) watch.begin();
  for (const tick of clock.ticks) tick();
  expect(looked()).toBeLessThanOrEqual(2);
  for (let turns = 0; turns < 10; turns++) {
    const before = looked();
    await turn();
    expect(looked() - before).toBeLessThanOrEqual(2);
  }
  // Due again before all of them have been looked at.
  for (const tick of clock.ticks) tick();
  for (let turns = 0; turns < 100; turns++) await turn();
  for (const count of seen) expect([1, 2]).toContain(count);
  for (const watch of watches) watch[Symbol.dispose]();
});

/** A clock of which each look at a route takes as long as it is told to. */
function stage() {
  const queue: (() => void)[] = [];
  const clock = new FakeClock();
  const looks = new DueLooks(clock, new Turns((run) => queue.push(run)));
  const made: string[] = [];
  const look =
    (name: string, ms: number, then = () => {}) =>
    () => {
      made.push(name);
      clock.skip(ms);
      then();
    };
  const nextTurn = async (): Promise<void> => {
    queue.shift()?.();
    await turn();
  };
  return { looks, made, look, nextTurn };
}

test("looks that take no time are all made in the turn in which they are due", async () => {
  const { looks, made, look, nextTurn } = stage();
  for (const name of ["a", "b", "c"]) looks.due(look(name, 0));
  expect(made).toEqual(["a", "b", "c"]);
  await nextTurn();
  looks.due(look("d", 0));
  expect(made).toEqual(["a", "b", "c", "d"]);
});

test("what waits for another turn is made in it as far as there is time, before what is due meanwhile", async () => {
  const { looks, made, look, nextTurn } = stage();
  looks.due(look("slow", 10));
  looks.due(look("a", 0, () => looks.due(look("d", 0))));
  const forgotten = look("forgotten", 0);
  looks.due(forgotten);
  looks.due(look("b", 1));
  looks.due(look("c", 1));
  looks.forget(forgotten);
  expect(made).toEqual(["slow"]);
  await nextTurn();
  expect(made).toEqual(["slow", "a", "b", "c"]);
  await nextTurn();
  expect(made).toEqual(["slow", "a", "b", "c", "d"]);
});

test("whatever is due and whatever is forgotten: each look is made once more, in the order in which they were due", async () => {
  const step = fc.record({
    look: fc.nat(9),
    what: fc.constantFrom("due" as const, "forget" as const, "turn" as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue: (() => void)[] = [];
      const nextTurn = (): void => queue.shift()?.();
      const looks = new DueLooks(new ImpatientClock(), new Turns((run) => queue.push(run)));
      const made: number[] = [];
      const all = Array.from({ length: 10 }, (_, index) => () => void made.push(index));
      /** Those that are due and were not made, in order. */
      let owed: number[] = [];
      for (const { look, what } of steps) {
        const before = made.length;
        if (what === "due") {
          if (!owed.includes(look)) owed.push(look);
          looks.due(all[look]!);
        } else if (what === "forget") {
          owed = owed.filter((one) => one !== look);
          looks.forget(all[look]!);
        } else {
          nextTurn();
          await turn();
        }
        expect(made.length - before).toBeLessThanOrEqual(1);
        for (const one of made.slice(before)) expect(owed.shift()).toBe(one);
      }
      for (let turns = 0; turns < 70; turns++) {
        nextTurn();
        await turn();
      }
      expect(made.slice(made.length - owed.length)).toEqual(owed);
      expect(queue).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
