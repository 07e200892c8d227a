import fc from "fast-check";
import { expect, test } from "vitest";
import { Pulls, type PullsOptions } from "../src/pulls.ts";

interface Asked {
  readonly pulls: Pulls;
  readonly batches: number[];
  readonly bodies: { readonly batch: number; readonly expires: number; readonly idle_heartbeat: number }[];
}

function asking(options: Partial<PullsOptions> = {}): Asked {
  const batches: number[] = [];
  const bodies: Asked["bodies"][number][] = [];
  const pulls = new Pulls({
    window: 100,
    bounded: false,
    maxBatch: Number.POSITIVE_INFINITY,
    maxExpiresMs: Number.POSITIVE_INFINITY,
    heartbeatMs: 10_000,
    request: (body) => {
      const request = JSON.parse(body) as Asked["bodies"][number];
      bodies.push(request);
      batches.push(request.batch);
    },
    ...options,
  });
  return { pulls, batches, bodies };
}

test("asks for the window first, and again when a quarter of it is free", () => {
  const { pulls, batches } = asking();
  pulls.advance(0);
  for (let held = 1; held <= 100; held++) {
    pulls.came();
    pulls.advance(held);
  }
  for (let held = 99; held > 75; held--) pulls.advance(held);
  expect(batches).toEqual([100]);
  pulls.advance(75);
  expect(batches).toEqual([100, 25]);
});

test("asks ahead where the server bounds what is unsettled", () => {
  const { pulls, batches } = asking({ bounded: true });
  pulls.advance(0);
  for (let held = 1; held <= 25; held++) {
    pulls.came();
    pulls.advance(held);
  }
  expect(batches).toEqual([100, 25]);
});

test("keeps to what the consumer allows of one request", () => {
  const { pulls, batches, bodies } = asking({ maxBatch: 40, maxExpiresMs: 5_000 });
  pulls.advance(0);
  expect(batches).toEqual([40, 40, 20]);
  expect(bodies[0]).toMatchObject({ expires: 5e9, idle_heartbeat: 2.5e9 });
});

test("a request that ends in order gives back what it did not bring", () => {
  const { pulls, batches } = asking();
  pulls.advance(0);
  pulls.came();
  expect(pulls.said(100, undefined)).toBe(false);
  expect(pulls.said(408, 99)).toBe(true);
  pulls.advance(1);
  expect(batches).toEqual([100, 99]);
  // Servers before 2.9 do not say how many.
  expect(pulls.said(408, undefined)).toBe(true);
  pulls.advance(1);
  expect(batches).toEqual([100, 99, 99]);
});

test("a server is silent when nothing comes of a request for two heartbeats; when nothing is asked for it may be", () => {
  const { pulls } = asking();
  const heard = () => Array.from({ length: 3 }, () => pulls.isHeard());
  expect(heard()).toEqual([true, true, true]);
  pulls.advance(0);
  expect(heard()).toEqual([true, false, false]);
  pulls.said(100, undefined);
  expect(heard()).toEqual([true, true, false]);
  // The answer that ends a request out of order is no sign of life.
  pulls.said(409, undefined);
  expect(pulls.isHeard()).toBe(false);
  pulls.forget();
  expect(heard()).toEqual([true, true, true]);
});

test("never lets more come than the window, whatever comes and is settled", () => {
  const steps = fc.array(fc.constantFrom("come", "settle", "end"), { maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), steps, (window, all) => {
      let [awaited, held] = [0, 0];
      const pulls = asking({
        window,
        request: (body) => (awaited += (JSON.parse(body) as { batch: number }).batch),
      }).pulls;
      pulls.advance(held);
      for (const step of all) {
        if (step === "come" && awaited > 0) {
          awaited--;
          held++;
          pulls.came();
        } else if (step === "settle" && held > 0) held--;
        else if (step === "end") {
          pulls.said(408, awaited);
          awaited = 0;
        }
        pulls.advance(held);
        expect(held + awaited).toBeLessThanOrEqual(window);
        // There is always something on its way when there is much room.
        if (held === 0) expect(awaited).toBeGreaterThan(0);
      }
    }),
  );
});
