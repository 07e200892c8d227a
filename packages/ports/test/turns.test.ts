import { PATIENCE } from "@bridge/tooling/patience";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { Base64Text, jsonInSlices, Slices, type Steps, textInSlices, Turns } from "../src/internal.ts";

/** Turns that come when the test says so. */
function byHand() {
  const asked: (() => void)[] = [];
  const turns = new Turns((run) => void asked.push(run));
  const turn = async (): Promise<void> => {
    for (const run of asked.splice(0)) run();
    await vi.waitFor(() => undefined, PATIENCE);
  };
  return { turns, turn };
}

/** A clock on which everything takes a millisecond. */
function slow(turn: (run: () => void) => void = queueMicrotask) {
  let now = 0;
  return { monotonic: () => now++, turn };
}

/** A slice is over at each look but the first. */
function slices(): Slices {
  return new Slices(slow());
}

describe("turns of the event loop", () => {
  test("one slice has each, in the order in which they were asked for", async () => {
    const { turns, turn } = byHand();
    const had: string[] = [];
    const job = async (name: string): Promise<void> => {
      for (let slice = 1; slice <= 2; slice++) {
        await turns.next();
        had.push(`${name}${slice}`);
      }
    };
    const jobs = Promise.all([job("a"), job("b"), job("c")]);
    for (let n = 1; n <= 6; n++) {
      await turn();
      expect(had).toHaveLength(n);
    }
    await jobs;
    expect(had).toEqual(["a1", "b1", "c1", "a2", "b2", "c2"]);
  });
});

describe("work in slices", () => {
  test("waits for the next slice when one has taken 2 ms, and not before", async () => {
    let now = 0;
    let turns = 0;
    const nextTurn = (run: () => void): void => {
      turns++;
      queueMicrotask(run);
    };
    const work = new Slices({ monotonic: () => now, turn: nextTurn });
    // Half a millisecond each, 20 in all before the last look.
    await work.map(Array(41).keys(), () => (now += 0.5));
    expect(turns).toBe(10);
  });

  test("ends with its signal, and takes no step after that", async () => {
    const stop = new AbortController();
    let taken = 0;
    const steps = function* (): Steps<void> {
      while (taken < 1_000) {
        if (++taken === 10) stop.abort(new Error("gone"));
        yield;
      }
    };
    await expect(slices().run(steps(), stop.signal)).rejects.toThrow("gone");
    expect(taken).toBeLessThanOrEqual(12);
  });

  test("a text is put together in slices, and so is JSON with an element for each route", async () => {
    for (const write of [
      (work: Slices) => textInSlices(Array(100).fill("part"), work),
      (work: Slices) => jsonInSlices({ routes: [...Array(100).keys()] }, work),
      (work: Slices) => jsonInSlices({ view: { stats: { legs: [...Array(100).keys()] } } }, work),
    ]) {
      let turns = 0;
      const nextTurn = (run: () => void): void => {
        turns++;
        queueMicrotask(run);
      };
      await write(new Slices(slow(nextTurn)));
      expect(turns).toBeGreaterThan(30);
    }
  });

  test("what is small does not have the room of something large each", async () => {
    const written = await Promise.all(Array.from({ length: 100 }, (_, n) => jsonInSlices({ n }, slices())));
    expect(new Set(written.map(({ buffer }) => buffer)).size).toBeLessThan(10);
  });

  test.each([0, 1, 49_151, 49_152, 49_153, 1_000_003])(
    "%i bytes are base64 in JSON, a part in a slice",
    async (length) => {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 31) % 251);
      const body = { id: "a", payload: new Base64Text(bytes.subarray(0)), last: 1 };
      let turns = 0;
      const nextTurn = (run: () => void): void => {
        turns++;
        queueMicrotask(run);
      };
      const text = Buffer.from(await jsonInSlices(body, new Slices(slow(nextTurn)))).toString();
      expect(text).toBe(JSON.stringify({ ...body, payload: Buffer.from(bytes).toString("base64") }));
      expect(JSON.stringify(body)).toBe(text);
      expect(turns).toBeGreaterThanOrEqual(Math.floor(length / 49_152 / 2));
    },
  );

  test("gives what it would give in one piece", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer()), async (items) => {
        expect(await slices().map(items, (item) => item * 2)).toEqual(items.map((item) => item * 2));
      }),
    );
  });

  test("a text is its parts, in UTF-8, however long it is", async () => {
    const parts = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 20_000 })));
    await fc.assert(
      fc.asyncProperty(parts, async (repeated) => {
        const texts = repeated.map(([text, times]) => text.repeat(Math.min(times, 100_000 / (text.length + 1))));
        expect(Buffer.from(await textInSlices(texts, slices())).equals(Buffer.from(texts.join("")))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test("JSON is what the platform would write", async () => {
    const leaf = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.date({ noInvalidDate: true }));
    const lists = fc.oneof(leaf, fc.array(leaf));
    const value = fc.dictionary(fc.string(), fc.oneof(lists, fc.dictionary(fc.string(), lists)));
    await fc.assert(
      fc.asyncProperty(value, async (body) => {
        expect(Buffer.from(await jsonInSlices(body, slices())).toString()).toBe(JSON.stringify(body));
      }),
    );
  });
});

test("each thing that is done in slices lets run what it has set off, and nothing more is done once the signal has aborted", async () => {
  const plans = fc.tuple(fc.nat(20), fc.option(fc.nat(20)));
  await fc.assert(
    fc.asyncProperty(plans, async ([count, abortsAt]) => {
      const controller = new AbortController();
      const done: number[] = [];
      let setOff = 0;
      const work = (item: number): void => {
        expect(setOff).toBe(item);
        done.push(item);
        void Promise.resolve().then(() => setOff++);
        if (item === abortsAt) controller.abort(new Error("enough"));
      };
      const all = Array.from({ length: count }, (_, item) => item);
      const doing = slices().each(all, work, controller.signal);
      if (abortsAt === null || abortsAt >= count) {
        await doing;
        expect(done).toEqual(all);
      } else {
        await expect(doing).rejects.toThrow("enough");
        expect(done).toEqual(all.slice(0, abortsAt + 1));
      }
    }),
  );
});
