import { type Logger, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { LeaseCounts } from "../../src/lease/lease-counts.ts";
import { Owner, POLL_MS, TTL_MS } from "./owner.ts";
import { FINE, World } from "./world.ts";

const REFUSING = { kind: "refusing", latencyMs: 5 } as const;
const STEP_DOWN_MS = (TTL_MS * 3) / 4;

/** One that holds the lease, and one that waits for it; with what is logged, and why a lease was lost. */
async function pair() {
  const world = new World();
  const [own, others]: [string[], string[]] = [[], []];
  const owner = new Owner(world, 1, { logger: keeping(own) });
  const standby = new Owner(world, 1, { logger: keeping(others) });
  owner.start();
  await world.pass(50);
  expect(own.splice(0)).toEqual(["info: lease acquired"]);
  return { world, owner, standby, own, others };
}

function keeping(lines: string[]): Logger {
  const line = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    const why = fields?.["why"] ?? fields?.["not_connected_ms"];
    lines.push(`${level}: ${message}${typeof why === "string" || typeof why === "number" ? `: ${why}` : ""}`);
  };
  return { ...silentLogger, info: line("info"), warn: line("warn"), error: line("error") };
}

async function until(world: World, condition: () => boolean, atMostMs: number): Promise<number> {
  const from = world.time;
  while (!condition()) {
    if (world.time - from > atMostMs) throw new Error("it never was so");
    await world.pass(10);
  }
  return world.time - from;
}

describe("what is told of a lease", () => {
  test("each time that its store is out of reach and in reach again, once, by who holds it and who waits", async () => {
    const { world, owner, standby, own, others } = await pair();
    standby.start();
    await world.pass(2 * POLL_MS);
    expect([own, others]).toEqual([[], []]);
    for (let times = 0; times < 2; times++) {
      world.mood = REFUSING;
      // Longer than until the next renewal, shorter than until it steps down.
      await world.pass(STEP_DOWN_MS - TTL_MS / 4 - 2_000);
      const away = ["warn: lease store out of reach: tried again"];
      expect([own.splice(0), others.splice(0)]).toEqual([away, away]);
      world.mood = FINE;
      await world.pass(TTL_MS);
      const back = ["info: lease store in reach again"];
      expect([own.splice(0), others.splice(0)]).toEqual([back, back]);
    }
    expect(owner.count).toMatchObject({ acquisitions: 1, losses: 0 });
  });

  test("nothing of a store out of reach when it is the stop that ended a look", async () => {
    const { world, standby, others } = await pair();
    standby.start();
    const stopped = standby.stop();
    await world.pass(100);
    await stopped;
    expect(others).toEqual([]);
  });

  test("finding 10.1: that its time was over, not that it could not be renewed, when that came first", async () => {
    const { world, owner, own } = await pair();
    world.mood = { kind: "deaf", latencyMs: 5 };
    await world.pass(TTL_MS / 4 + 100);
    owner.machine.frozen = true;
    await world.pass(TTL_MS);
    owner.machine.frozen = false;
    expect(owner.live).toBe(false);
    await owner.machine.thaw();
    expect(own).toEqual([expect.stringMatching(/^error: lease lost: stepping down: it was not renewed in time/)]);
  });

  test("no loss when it is asked to stop before it finds out that its time is over", async () => {
    const { world, owner } = await pair();
    owner.machine.frozen = true;
    await world.pass(2 * TTL_MS);
    owner.machine.frozen = false;
    const stopped = owner.stop();
    await world.pass(1_000);
    await stopped;
    expect(owner.count).toMatchObject({ acquisitions: 1, losses: 0 });
  });

  test("that it was released, or what kept it from that", async () => {
    for (const [told, hinder] of [
      ["info: lease released", () => {}],
      [
        "warn: lease not released: what was open under it did not close in time",
        (_: World, owner: Owner) => void owner.open(),
      ],
      ["warn: lease not released: it lapses by itself", (world: World) => (world.mood = REFUSING)],
    ] as const) {
      const { world, owner, own } = await pair();
      hinder(world, owner);
      const stopped = owner.stop();
      await world.pass(TTL_MS / 2);
      await stopped;
      expect([own, owner.count.losses]).toEqual([[told], 0]);
    }
  });

  test("that it was yielded, and for how long its session had not been connected", async () => {
    const { world, owner, standby, own } = await pair();
    standby.start();
    await world.pass(POLL_MS);
    owner.reaches = false;
    await until(world, () => standby.live, 10 * TTL_MS);
    const [told = "", ...after] = own.splice(0);
    const [what, goneMs] = told.split(/: (?=\d+$)/);
    expect(what).toBe("warn: lease yielded: its session is not connected, and another instance may do better");
    expect(Number(goneMs)).toBeGreaterThanOrEqual(3 * TTL_MS);
    expect(Number(goneMs)).toBeLessThan(4 * TTL_MS);
    expect(after).toEqual(["info: lease released"]);
  });

  test("why it was lost, and why it could not be taken back", async () => {
    const { world, owner, own } = await pair();
    owner.machine.frozen = true;
    await world.pass(5 * TTL_MS);
    await owner.machine.thaw();
    await until(world, () => owner.live, TTL_MS);
    const why = "it was not renewed in time: the process stood still, or its event loop was held up";
    expect(own.splice(0)).toEqual([
      `error: lease lost: stepping down: ${why}`,
      "info: lease released",
      "info: lease acquired",
    ]);
    world.mood = REFUSING;
    await until(world, () => owner.lost !== undefined, 3 * TTL_MS);
    expect(own).toContain("error: lease lost: stepping down: it could not be renewed");
    expect(owner.lost?.message).toContain("the lease store cannot be reached");
  });

  test("whether another was seen to hold it: no longer than its record may last", async () => {
    const { world, owner, standby } = await pair();
    standby.start();
    await world.pass(POLL_MS);
    expect([owner.elsewhere, standby.elsewhere]).toEqual([false, true]);
    owner.kill();
    world.mood = REFUSING;
    await world.pass(TTL_MS / 2);
    expect(standby.elsewhere).toBe(true);
    await until(world, () => !standby.elsewhere, TTL_MS);
    expect(standby.live).toBe(false);
    world.mood = FINE;
    await until(world, () => standby.live, TTL_MS);
    expect(standby.elsewhere).toBe(false);
  });

  test("who has stopped waiting says of nobody that he holds it", async () => {
    const { world, standby } = await pair();
    standby.start();
    await world.pass(POLL_MS);
    expect(standby.elsewhere).toBe(true);
    await standby.stop();
    expect(standby.elsewhere).toBe(false);
  });

  test("the counts of sessions that are configured, and of no others", () => {
    const counts = new LeaseCounts();
    counts.of("stays").acquisitions++;
    counts.of("goes").losses++;
    counts.of("stays").failures++;
    counts.follow(new Set(["stays", "comes"]));
    expect(counts.read()).toEqual([{ sessionId: "stays", acquisitions: 1, losses: 0, failures: 1, yields: 0 }]);
  });
});

describe("letting go of a lease", () => {
  test("a renewal that is on its way when it is stopped is released too, at once", async () => {
    const { world, owner, own } = await pair();
    world.mood = { kind: "fine", latencyMs: 500 };
    let movedAt = 0;
    world.replaced = () => (movedAt = world.time);
    await until(world, () => movedAt > 0, TTL_MS);
    // The next one is sent a quarter of the ttl after this one was, and reaches the store half a second later.
    await world.pass(TTL_MS / 4 - 500 + 200);
    const before = world.record?.beat;
    const stopped = owner.stop();
    await until(world, () => world.record?.beat !== before, 1_000);
    expect(world.record?.holder).toBe(owner.holder);
    await world.pass(3_000);
    await stopped;
    expect([world.record?.holder, own, owner.count.losses]).toEqual(["", ["info: lease released"], 0]);
  });

  test.each([
    ["another holder", () => ({ holder: "somebody", token: 1 })],
    ["another token of ours", (owner: Owner) => ({ holder: owner.holder, token: 2 })],
    ["nothing at all", () => undefined],
  ])("what was taken away (%s) is not fought for, and not waited for what is open under it", async (_, there) => {
    const { world, owner, own } = await pair();
    owner.open();
    const record = there(owner);
    world.record = record && { ...record, beat: 1_000, ttlMs: TTL_MS };
    await until(world, () => !owner.live, TTL_MS / 2);
    await world.pass(20);
    expect(owner.lost?.message).toContain("another instance holds it");
    expect(own).toEqual(["error: lease lost: stepping down: another instance has taken it"]);
    expect(world.record).toEqual(record && { ...record, beat: 1_000, ttlMs: TTL_MS });
  });

  test("one that was lost is taken back while its ttl lasts, and given up when that is over", async () => {
    for (const [awayMs, isBack] of [
      [TTL_MS / 2, true],
      [2 * TTL_MS, false],
    ] as const) {
      const { world, owner } = await pair();
      world.mood = REFUSING;
      await until(world, () => !owner.live, TTL_MS);
      const lostAt = world.time;
      await until(world, () => owner.lost !== undefined || world.time - lostAt >= awayMs, 3 * TTL_MS);
      if (!isBack) {
        expect(world.time - lostAt).toBeGreaterThanOrEqual(TTL_MS);
        expect(world.time - lostAt).toBeLessThanOrEqual(1.5 * TTL_MS);
        continue;
      }
      expect(owner.lost).toBeUndefined();
      world.mood = FINE;
      expect(await until(world, () => owner.live, TTL_MS)).toBeLessThanOrEqual(POLL_MS + 100);
      expect(owner.token).toBe(2);
    }
  });

  test("leaves no timer behind, and none piles up while it is kept", async () => {
    const { world, owner } = await pair();
    await world.pass(TTL_MS);
    const pending = world.pending;
    await world.pass(20 * TTL_MS);
    expect(world.pending).toBeLessThanOrEqual(pending + 1);
    const stopped = owner.stop();
    await world.pass(100);
    await stopped;
    expect(world.pending).toBe(0);
  });
});
