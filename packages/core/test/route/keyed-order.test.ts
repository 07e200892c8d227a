import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyedOrder } from "../../src/route/keyed-order.ts";
import { turn } from "../support/fake-clock.ts";

test("holders of one key run one after another, in the order in which they came, whatever order they leave in", async () => {
  const arrivals = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(arrivals, fc.infiniteStream(fc.nat()), async (keys, choices) => {
      const order = new KeyedOrder();
      const log: { key: string; index: number }[] = [];
      const ready = new Set<number>();
      const turns = keys.map((key, index) => {
        const place = order.enter(key);
        void place.ready.then(() => {
          log.push({ key, index });
          ready.add(index);
        });
        return place;
      });
      const present = new Set(keys.keys());
      while (present.size > 0) {
        await turn();
        for (const key of new Set(keys)) {
          const inside = [...present].filter((index) => keys[index] === key && ready.has(index));
          const first = [...present].find((index) => keys[index] === key);
          expect(inside).toEqual(first === undefined ? [] : [first]);
        }
        const leaver = [...present][(choices.next().value ?? 0) % present.size] ?? 0;
        // Somebody may give up before its turn; the next one must still wait for those before both.
        turns[leaver]?.leave();
        present.delete(leaver);
        if (!ready.has(leaver)) ready.add(leaver);
      }
      await turn();
      for (const key of new Set(keys)) {
        const indexes = log.filter((entry) => entry.key === key).map((entry) => entry.index);
        expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      }
      expect(order.size).toBe(0);
    }),
    { numRuns: 50 },
  );
});
