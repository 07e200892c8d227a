import fc from "fast-check";
import { expect, test } from "vitest";
import { TapShare } from "../../src/tap/tap-share.ts";
import { cost } from "./cost.ts";

const uses = fc.array(fc.record({ ms: fc.double({ min: 0, max: 30, noNaN: true }), idleMs: fc.nat(3_000) }));

test("operators 6.3: who rests as it is told has its share, and of what it has not used a little at once", () => {
  fc.assert(
    fc.property(uses, fc.integer({ min: 1, max: 8 }), (each, open) => {
      const share = Object.assign(new TapShare(), { open });
      const account = share.account(0);
      let [now, usedMs] = [0, 0];
      for (const { ms, idleMs } of each) {
        now += idleMs;
        expect(usedMs).toBeLessThanOrEqual(now / (20 * open) + 20 + 1e-6);
        usedMs += ms;
        const rest = account.used(cost(ms), 10, now);
        expect(rest.ms).toBeLessThanOrEqual(5_000 + 1e-6);
        now += rest.ms;
      }
    }),
  );
});

test("a use that cannot be is waited for no longer than five seconds, and is forgotten after that", () => {
  const share = Object.assign(new TapShare(), { open: 8 });
  const account = share.account(0);
  expect(account.used(cost(60_000), 1, 0)).toEqual({ ms: 5_000, kept: 25 });
  expect(account.used(cost(1), 1, 5_000)).toEqual({ ms: 160, kept: 5 });
});

test("where the machine lets the event loop wait, the share is one of what is left to it", () => {
  const share = Object.assign(new TapShare(), { open: 8 });
  const account = share.account(0);
  const used = (slowness: number): number => {
    let [began, now] = [Infinity, 0];
    for (let shown = 0; shown < 300; shown++) {
      now += account.used(cost(5, slowness), 10, now).ms;
      if (shown === 100) began = now;
    }
    const restedMs = now - began;
    return (199 * 5) / restedMs;
  };
  expect(used(1)).toBeCloseTo(1 / 160, 4);
  expect(used(4)).toBeCloseTo(1 / 640, 4);
});

test("one who was shown nothing yet of which the cost is known rests not at all", () => {
  const share = Object.assign(new TapShare(), { open: 8 });
  expect(share.account(0).used(cost(0), 0, 1_000)).toEqual({ ms: 0, kept: 1 });
});
