import { systemClock } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Batches, MAX_ENTRIES } from "../src/batches.ts";

interface Item {
  readonly id: number;
  readonly size: number;
  readonly gone: boolean;
}

interface Harness {
  readonly batches: Batches<Item>;
  readonly sent: (readonly Item[])[];
  readonly parallel: () => number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function harness({ maxCalls = 4, lingerMs = 1, turns = 1 } = {}): Harness {
  const sent: (readonly Item[])[] = [];
  let calls = 0;
  let most = 0;
  const batches = new Batches<Item>({
    async run(items) {
      sent.push(items);
      most = Math.max(most, ++calls);
      for (let i = 0; i < turns; i++) await turn();
      calls--;
    },
    sizeOf: ({ size }) => size,
    isGone: ({ gone }) => gone,
    lingerMs,
    maxCalls,
    clock: systemClock,
  });
  return { batches, sent, parallel: () => most };
}

const items = (count: number, fields: Partial<Item> = {}): readonly Item[] =>
  Array.from({ length: count }, (_, id) => ({ id, size: 1, gone: false, ...fields }));

describe("batches", () => {
  test("carry every item once, in order, within the limits of entries, bytes and requests", async () => {
    const item = fc.record({ size: fc.integer({ min: 1, max: 120 }), gone: fc.boolean(), pause: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (script, maxCalls) => {
        const { batches, sent, parallel } = harness({ maxCalls, turns: 2 });
        batches.maxBytes = 100;
        for (const [id, { size, gone, pause }] of script.entries()) {
          batches.add({ id, size, gone });
          if (pause) await turn();
        }
        await batches.whenIdle();
        const wanted = script.flatMap(({ gone }, id) => (gone ? [] : [id]));
        expect(sent.flat().map(({ id }) => id)).toEqual(wanted);
        for (const batch of sent) {
          expect(batch.length).toBeLessThanOrEqual(MAX_ENTRIES);
          const bytes = batch.reduce((sum, { size }) => sum + size, 0);
          // One that is larger by itself goes alone: the queue has the say.
          expect(bytes <= 100 || batch.length === 1).toBe(true);
        }
        expect(parallel()).toBeLessThanOrEqual(maxCalls);
        expect(batches.isIdle).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test("take together what comes in one turn", async () => {
    const { batches, sent } = harness();
    for (const item of items(23)) batches.add(item);
    await batches.whenIdle();
    expect(sent.map(({ length }) => length)).toEqual([10, 10, 3]);
  });

  test("wait for more while a request is under way, and no longer than until it ends", async () => {
    const { batches, sent } = harness({ lingerMs: 60_000, turns: 5 });
    batches.add(items(1)[0]!);
    await turn();
    for (const item of items(4)) {
      await turn();
      batches.add(item);
    }
    await batches.whenIdle();
    expect(sent.map(({ length }) => length)).toEqual([1, 4]);
  });

  test("wait a few milliseconds at most while a request is under way", async () => {
    const hung = Promise.withResolvers<void>();
    const sent: (readonly Item[])[] = [];
    const batches = new Batches<Item>({
      run: (batch) => (sent.push(batch) === 1 ? hung.promise : Promise.resolve()),
      sizeOf: () => 1,
      isGone: () => false,
      lingerMs: 1,
      maxCalls: 4,
      clock: systemClock,
    });
    batches.add(items(1)[0]!);
    await turn();
    batches.add(items(1)[0]!);
    while (sent.length < 2) await turn();
    hung.resolve();
    await batches.whenIdle();
    expect(batches.made).toBe(2);
  });
});
