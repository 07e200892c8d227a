import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, entryOf } from "../../src/outbox/entry.ts";
import { LaneQueue } from "../../src/outbox/lane-queue.ts";

type Step =
  | { readonly kind: "add"; readonly key: string | undefined; readonly inMs: number }
  | { readonly kind: "take"; readonly limit: number }
  | { readonly kind: "lend by name"; readonly nth: number }
  | { readonly kind: "give back"; readonly nth: number; readonly inMs: number }
  | { readonly kind: "remove"; readonly nth: number }
  | { readonly kind: "wait"; readonly ms: number };

const inMs = fc.constantFrom(0, 0, 3, 7, 15);
const nth = fc.nat({ max: 8 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), key: fc.constantFrom(undefined, "a", "a", "b"), inMs }),
  fc.record({ kind: fc.constant("add" as const), key: fc.constantFrom(undefined, "a", "b"), inMs }),
  fc.record({ kind: fc.constant("take" as const), limit: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ kind: fc.constant("lend by name" as const), nth }),
  fc.record({ kind: fc.constant("give back" as const), nth, inMs }),
  fc.record({ kind: fc.constant("remove" as const), nth }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 5, 10) }),
);

/** The same by looking at all records each time: the oldest first that is due, and of a key none before the older ones. */
function lendable(unfinished: readonly Entry[], lent: ReadonlySet<Entry>, limit: number, now: number): number[] {
  const taken = new Set<Entry>();
  const mayGo = (entry: Entry): boolean =>
    !lent.has(entry) &&
    !taken.has(entry) &&
    entry.dueAt <= now &&
    (entry.key === undefined ||
      unfinished.every(
        ({ key, number }, at) => key !== entry.key || number >= entry.number || taken.has(unfinished[at]!),
      ));
  while (taken.size < limit) {
    const next = unfinished.find(mayGo);
    if (next === undefined) break;
    taken.add(next);
  }
  return [...taken].map(({ number }) => number);
}

test("records are lent oldest first when they are due, and of an ordering key none before the older ones", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const queue = new LaneQueue();
      const unfinished: Entry[] = [];
      const lent = new Set<Entry>();
      let [now, number] = [0, 0];
      for (const each of steps) {
        switch (each.kind) {
          case "add": {
            const entry = entryOf({
              number: number++,
              id: `${number}`,
              key: each.key,
              attempts: 0,
              dueAt: now + each.inMs,
            });
            unfinished.push(entry);
            queue.add(entry, now);
            break;
          }
          case "take": {
            const expected = lendable(unfinished, lent, each.limit, now);
            const taken: Entry[] = [];
            queue.take(taken, each.limit, now);
            expect(taken.map((entry) => entry.number)).toEqual(expected);
            for (const entry of taken) lent.add(entry);
            break;
          }
          case "lend by name": {
            const entry = unfinished[each.nth];
            if (entry === undefined) break;
            entry.place = "lent";
            lent.add(entry);
            break;
          }
          case "give back": {
            const entry = [...lent][each.nth];
            if (entry === undefined) break;
            lent.delete(entry);
            entry.dueAt = now + each.inMs;
            queue.giveBack(entry, now);
            break;
          }
          case "remove": {
            const [entry] = unfinished.splice(each.nth, 1);
            if (entry === undefined) break;
            lent.delete(entry);
            queue.remove(entry, now);
            break;
          }
          case "wait":
            now += each.ms;
        }
        expect(queue.size).toBe(unfinished.length);
        const heads = ["a", "b"].flatMap((key) => unfinished.find((entry) => entry.key === key) ?? []);
        const blocked = heads.filter((entry) => !lent.has(entry) && entry.dueAt > now);
        expect(new Map(queue.blockedKeys(now))).toEqual(new Map(blocked.map((entry) => [entry.key, entry])));
      }
    }),
    { numRuns: 2_000 },
  );
});

test("one that was lent by name before its turn is known by its number from when it is given back until it is finished", () => {
  const queue = new LaneQueue();
  const entry = entryOf({ number: 7, id: "7", key: undefined, attempts: 1, dueAt: 0 });
  expect(queue.get(7)).toBeUndefined();
  queue.giveBack(entry, 0);
  expect(queue.get(7)).toBe(entry);
  const taken: Entry[] = [];
  queue.take(taken, 1, 0);
  expect([taken, queue.size]).toEqual([[], 0]);
  queue.remove(entry, 0);
  expect(queue.get(7)).toBeUndefined();
});

test("one that is lent when it is added is lent to nobody else", () => {
  const queue = new LaneQueue();
  const entry = entryOf({ number: 1, id: "1", key: undefined, attempts: 0, dueAt: 0 });
  entry.place = "lent";
  queue.add(entry, 0);
  const taken: Entry[] = [];
  queue.take(taken, 1, 0);
  expect(taken).toEqual([]);
});
