import { ManualClock } from "@bridge/tooling/manual-clock";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { hashId } from "../../src/recent/id-hash.ts";
import { RecentLegs } from "../../src/recent/recent-legs.ts";
import { RecentRedrives } from "../../src/recent/recent-redrives.ts";
import { DISPOSITIONS } from "../../src/view/stats.ts";

function recentLegs(size: number) {
  const clock = new ManualClock();
  const legs = new RecentLegs(clock);
  legs.size = size;
  return { clock, legs };
}

describe("operators 6.4: how legs have ended", () => {
  it("is known of the last so many, whatever came before", () => {
    const leg = fc.record({
      id: fc.integer({ min: 0, max: 20 }),
      place: fc.integer({ min: 0, max: 2 }),
      code: fc.nat(7),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(leg, { maxLength: 100 }), (size, added) => {
        const { clock, legs } = recentLegs(size);
        const places = ["a", "b", ""].map((binding) => legs.placeOf("r", binding));
        const kept = added.map(({ id, place, code }) => {
          clock.advance(1);
          const outcome = DISPOSITIONS[code] ?? "delivered";
          legs.add(places[place] ?? 0, `m-${id}`, outcome, clock.monotonic());
          const bindingId = ["a", "b", ""][place] ?? "";
          return { id: `m-${id}`, ended: { routeId: "r", bindingId, outcome, at: clock.now() } };
        });
        const last = kept.slice(-size).toReversed();
        for (let id = 0; id <= 20; id++)
          expect(legs.find(`m-${id}`, 1_000)).toEqual(
            last.filter((one) => one.id === `m-${id}`).map(({ ended }) => ended),
          );
      }),
      { numRuns: 200 },
    );
  });

  it("is not known of any while it is switched off, and is forgotten when the size changes", () => {
    const { clock, legs } = recentLegs(0);
    const place = legs.placeOf("r", "b");
    legs.add(place, "m-1", "delivered", 1);
    expect(legs.find("m-1", 10)).toEqual([]);
    legs.size = 2;
    clock.advance(10);
    legs.add(place, "m-1", "delivered", clock.monotonic());
    expect(legs.find("m-1", 10)).toHaveLength(1);
    legs.size = 3;
    expect([legs.find("m-1", 10), legs.size, legs.since]).toEqual([[], 3, clock.now()]);
  });

  it("says since when whatever has ended is there", () => {
    const { clock, legs } = recentLegs(2);
    const began = clock.now();
    for (let n = 0; n < 3; n++) {
      expect(legs.since).toBe(n < 2 ? began : began + 1_000);
      clock.advance(1_000);
      legs.add(0, `m-${n}`, "delivered", clock.monotonic());
    }
    expect(legs.since).toBe(began + 2_000);
  });

  it("gives a route and binding one number, and those beyond the bound none of their own", () => {
    const { legs } = recentLegs(1);
    expect(legs.placeOf("r", "b")).toBe(legs.placeOf("r", "b"));
    for (let n = 0; n < 65_536; n++) legs.placeOf("r", `${n}`);
    expect(legs.placeOf("r", "new")).toBe(0);
    expect(legs.placeOf("r", "b")).not.toBe(0);
  });
});

test("operators 6.4: 300,000 ids that differ in little have as many hashes", () => {
  const seen = new Set<bigint>();
  const hash = { high: 0, low: 0 };
  for (let n = 0; n < 100_000; n++)
    for (const id of [`m-${n}`, `${n}-m`, `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`]) {
      hashId(id, hash);
      seen.add((BigInt(hash.high) << 32n) | BigInt(hash.low));
    }
  expect(seen.size).toBe(300_000);
});

test("operators 6.4: ids that differ in any two characters, or in their length, have different hashes", () => {
  const seen = new Set<bigint>();
  const hash = { high: 0, low: 0 };
  let ids = 0;
  const look = (id: string): void => {
    hashId(id, hash);
    seen.add((BigInt(hash.high) << 32n) | BigInt(hash.low));
    ids++;
  };
  const base = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  const at = (place: number, by: number): string => String.fromCodePoint(base.charCodeAt(place) ^ by);
  for (let one = 0; one < base.length; one++)
    for (let other = one + 1; other < base.length; other++)
      for (const [a, b] of [
        [1, 1],
        [1, 2],
        [2, 1],
        [16, 16],
        [64, 64],
        [3, 200],
        [200, 3],
        [256, 256],
        [8_192, 4_096],
      ] as const)
        look(`${base.slice(0, one)}${at(one, a)}${base.slice(one + 1, other)}${at(other, b)}${base.slice(other + 1)}`);
  for (let length = 0; length <= 1_024; length++) {
    look("\0".repeat(length));
    look("x".repeat(length + 1));
    look("\u20ac".repeat(length + 1));
  }
  expect(seen.size).toBe(ids);
});

test("operators 6.4: redrives are remembered, the last ten of a message and of so many messages", () => {
  const redrives = new RecentRedrives();
  for (let n = 0; n < 12; n++) redrives.add("m-1", { envelopeId: `again-${n}` });
  expect(redrives.of("m-1")).toEqual(Array.from({ length: 10 }, (_, n) => ({ envelopeId: `again-${n + 2}` })));
  for (let n = 0; n < 9_999; n++) redrives.add(`other-${n}`, { envelopeId: "x" });
  redrives.add("m-1", { envelopeId: "again-12", jobId: "job-1" });
  expect(redrives.of("m-1").slice(-2)).toEqual([
    { envelopeId: "again-11" },
    { envelopeId: "again-12", jobId: "job-1" },
  ]);
  for (let n = 0; n < 20_000; n++) redrives.add(`another-${n}`, { envelopeId: "y" });
  expect([redrives.of("m-1"), redrives.of("another-10000"), redrives.of("another-0")]).toEqual([
    [],
    [{ envelopeId: "y" }],
    [],
  ]);
});
