import { getEventListeners } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Abortable, unwatchAbort, watchAbort } from "../src/abort-watch.ts";

test("each is told of the abort of its own signal, once, unless it is watched no more", () => {
  const step = fc.record({ does: fc.constantFrom("watch", "leave", "abort" as const), name: fc.nat(5), on: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const controllers = [new AbortController(), new AbortController(), new AbortController()];
      const members = new Map<number, Abortable>();
      const told: number[] = [];
      const expected: number[] = [];
      for (const { does, name, on } of steps) {
        const { signal } = controllers[on]!;
        const member = members.get(name);
        if (does === "watch" && member === undefined && !signal.aborted) {
          const one = { signal, onAbort: () => void told.push(name) };
          members.set(name, one);
          watchAbort(one);
        } else if (does === "leave" && member !== undefined) {
          unwatchAbort(member);
          members.delete(name);
        } else if (does === "abort" && !signal.aborted) {
          const ended = [...members].filter(([, one]) => one.signal === signal).map(([ending]) => ending);
          expected.push(...ended);
          for (const one of ended) members.delete(one);
          controllers[on]!.abort();
        }
        expect(new Set(told)).toEqual(new Set(expected));
        expect(told).toHaveLength(expected.length);
      }
    }),
  );
});

test("a signal that comes once is left without a listener", () => {
  const { signal } = new AbortController();
  const member = { signal, onAbort() {} };
  watchAbort(member);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  unwatchAbort(member);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("one that comes again is listened to once, for good and for everybody", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const told: number[] = [];
  for (let name = 0; name < 5; name++) {
    const member = { signal, onAbort: () => void told.push(name) };
    watchAbort(member);
    if (name < 3) unwatchAbort(member);
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  controller.abort();
  expect(told).toEqual([3, 4]);
});
