import { describe, expect, test } from "vitest";
import { Owner, POLL_MS, TTL_MS } from "./owner.ts";
import { FINE, World } from "./world.ts";

const DEAF = { kind: "deaf", latencyMs: 5 } as const;
const MUTE = { kind: "mute", latencyMs: 5 } as const;
const REFUSING = { kind: "refusing", latencyMs: 5 } as const;

/** Instances that start a moment after each other. The first gets the lease. */
async function instances(count: number, rates: readonly number[] = []): Promise<{ world: World; owners: Owner[] }> {
  const world = new World();
  const owners = Array.from({ length: count }, (_, i) => new Owner(world, rates[i] ?? 1));
  for (const owner of owners) {
    owner.start();
    await world.pass(50);
  }
  return { world, owners };
}

/** Lets time pass until it is so; how long that took. */
async function until(world: World, condition: () => boolean, atMostMs = 10 * TTL_MS): Promise<number> {
  const from = world.time;
  while (!condition()) {
    if (world.time - from > atMostMs) throw new Error("it never was so");
    await world.pass(10);
  }
  return world.time - from;
}

async function two(rates?: readonly number[]): Promise<{ world: World; first: Owner; second: Owner }> {
  const { world, owners } = await instances(2, rates);
  const [first, second] = owners;
  if (first === undefined || second === undefined) throw new Error("no owners");
  return { world, first, second };
}

/** Its process stands still for so long, from just after a renewal. */
async function heldUp(world: World, owner: Owner, ms: number): Promise<void> {
  let wroteAt = 0;
  world.replaced = () => (wroteAt = world.time);
  await until(world, () => wroteAt > 0);
  await world.pass(50);
  owner.machine.frozen = true;
  await world.pass(ms);
}

describe("getting a lease", () => {
  test("one that nobody has taken is taken at once, by one", async () => {
    const { world, first, second } = await two();
    expect([first.live, second.live]).toEqual([true, false]);
    expect(world.record).toEqual({ holder: first.holder, token: 1, beat: 1, ttlMs: TTL_MS });
  });

  test("of an instance that died it is taken when its record has not moved for its ttl, within two looks", async () => {
    const { world, first, second } = await two();
    await world.pass(3 * TTL_MS);
    let movedAt = 0;
    world.replaced = () => (movedAt = world.time);
    await until(world, () => movedAt > 0);
    first.kill();
    const diedAt = movedAt;
    await until(world, () => second.live);
    expect(world.time - diedAt).toBeGreaterThanOrEqual(TTL_MS);
    expect(world.time - diedAt).toBeLessThanOrEqual(TTL_MS + 2 * POLL_MS);
    expect(second.token).toBe(2);
  });

  test("of an instance that stopped it is taken at the next look", async () => {
    const { world, first, second } = await two();
    const stopped = first.stop();
    await world.pass(50);
    await stopped;
    expect(world.record?.holder).toBe("");
    expect(await until(world, () => second.live)).toBeLessThanOrEqual(POLL_MS + 50);
    expect(second.token).toBe(2);
  });

  test("the holder's clock has no part in it: who waits measures by its own", async () => {
    for (const rate of [1, 4]) {
      const { world, first, second } = await two([rate, 1]);
      await world.pass(TTL_MS);
      first.kill();
      expect(await until(world, () => second.live)).toBeGreaterThanOrEqual((TTL_MS * 3) / 4 - 100);
    }
    const { world, first, second } = await two([1, 4]);
    first.kill();
    expect(await until(world, () => second.live)).toBeLessThanOrEqual(TTL_MS / 4 + POLL_MS);
  });

  test("an answer that did not come is found out by reading", async () => {
    const world = new World();
    const owner = new Owner(world, 1);
    owner.start();
    // After the first look has been asked for, until the write has been.
    world.at(8, undefined, () => (world.mood = { kind: "written_then_refusing", latencyMs: 5 }));
    world.at(12, undefined, () => (world.mood = FINE));
    await world.pass(1_000);
    expect(owner.live).toBe(true);
    expect(world.record?.token).toBe(1);
  });

  test("a standby whose store is out of reach stays one, and takes over when it is back", async () => {
    const { world, first, second } = await two();
    first.kill();
    for (const mood of [REFUSING, DEAF, MUTE]) {
      world.mood = mood;
      await world.pass(20 * TTL_MS);
      expect(second.running).toBe(true);
    }
    world.mood = FINE;
    // What it saw before has not moved since, so there is nothing more to wait for.
    expect(await until(world, () => second.live)).toBeLessThanOrEqual(TTL_MS / 4 + 2 * POLL_MS);
  });
});

describe("keeping a lease", () => {
  test("every quarter of the ttl the record moves, and nothing else does", async () => {
    const { world, first } = await two();
    const moves: number[] = [];
    world.replaced = (_, after) => {
      expect(after).toEqual({ holder: first.holder, token: 1, beat: after.beat, ttlMs: TTL_MS });
      moves.push(world.time);
    };
    await world.pass(2 * TTL_MS);
    expect(moves.length).toBeGreaterThanOrEqual(7);
    for (const [i, at] of moves.slice(1).entries()) expect(at - (moves[i] ?? 0)).toBeLessThanOrEqual(TTL_MS / 4 + 50);
    expect(first.count).toMatchObject({ acquisitions: 1, losses: 0, failures: 0 });
  });

  test("its time counts from before a write began, however long that took", async () => {
    const { world, first } = await two();
    const latencyMs = 1_000;
    world.mood = { kind: "fine", latencyMs };
    let wroteAt = 0;
    world.replaced = () => (wroteAt = world.time);
    await until(world, () => wroteAt > 0);
    await world.pass(latencyMs);
    // Nothing runs any more; somebody asks the term itself.
    first.machine.frozen = true;
    await world.pass(wroteAt - latencyMs + TTL_MS * 0.99 - world.time - 5);
    first.machine.frozen = false;
    expect(first.live).toBe(true);
    first.machine.frozen = true;
    await world.pass(10);
    first.machine.frozen = false;
    expect(first.live).toBe(false);
  });

  test("so does the time of the write by which it was taken", async () => {
    const world = new World();
    const owner = new Owner(world, 1);
    const latencyMs = 1_000;
    world.mood = { kind: "fine", latencyMs };
    let wroteAt = 0;
    world.replaced = () => (wroteAt = world.time);
    owner.start();
    await until(world, () => owner.live);
    owner.machine.frozen = true;
    await world.pass(wroteAt - latencyMs + TTL_MS * 0.99 - world.time - 5);
    owner.machine.frozen = false;
    expect(owner.live).toBe(true);
    owner.machine.frozen = true;
    await world.pass(10);
    owner.machine.frozen = false;
    expect(owner.live).toBe(false);
  });

  test("a send begins only when it would end in time, and asks for a renewal", async () => {
    const { world, first } = await two();
    await world.pass(TTL_MS / 4);
    expect(first.send()).toBe(true);
    world.mood = DEAF;
    await until(world, () => !first.send());
    expect(first.live).toBe(true);
    const asked = world.record?.beat;
    world.mood = FINE;
    await until(world, () => world.record?.beat !== asked, TTL_MS / 2);
    expect(first.send()).toBe(true);
  });

  test("who needs nearly all of its time waits for a renewal that comes at once, not for the regular one", async () => {
    const { world, first } = await two();
    let wroteAt = 0;
    world.replaced = () => (wroteAt = world.time);
    await until(world, () => wroteAt > 0);
    await world.pass(TTL_MS / 10);
    expect(first.lasts(TTL_MS * 0.9)).toBe(false);
    expect(await until(world, () => first.lasts(TTL_MS * 0.9))).toBeLessThanOrEqual(50);
  });

  test("held up until shortly before its ttl is over it renews, and goes on", async () => {
    const { world, first } = await two();
    await heldUp(world, first, TTL_MS * 0.9);
    await first.machine.thaw();
    await world.pass(TTL_MS);
    expect([first.live, first.token]).toEqual([true, 1]);
    expect(first.count.losses).toBe(0);
  });

  test("held up until it is late, with a store that does not answer, it tries once, for a moment", async () => {
    const { world, first } = await two();
    await heldUp(world, first, TTL_MS * 0.8);
    world.mood = DEAF;
    await first.machine.thaw();
    expect(await until(world, () => !first.live)).toBeLessThanOrEqual(TTL_MS / 10);
  });

  test("a renewal that is due begins at once", async () => {
    const { world, first } = await two();
    let wroteAt = 0;
    world.replaced = () => (wroteAt = world.time);
    await until(world, () => wroteAt > 0);
    first.machine.frozen = true;
    await world.pass(TTL_MS / 2);
    const thawedAt = world.time;
    await first.machine.thaw();
    await until(world, () => wroteAt > thawedAt);
    expect(wroteAt - thawedAt).toBe(FINE.latencyMs);
  });

  test("who asks for more than it can ever last sets off a renewal each twentieth of the ttl at most", async () => {
    const { world, first } = await two();
    let writes = 0;
    world.replaced = () => writes++;
    for (const from = world.time; world.time - from < TTL_MS; await world.pass(10))
      expect(first.lasts(2 * TTL_MS)).toBe(false);
    expect(writes).toBeGreaterThan(15);
    expect(writes).toBeLessThanOrEqual(20);
  });

  test("a renewal whose answer was lost, or which came after it was given up, costs nothing", async () => {
    const { world, first } = await two();
    world.mood = MUTE;
    await world.pass(TTL_MS / 2);
    world.mood = FINE;
    await world.pass(TTL_MS);
    expect([first.live, first.token]).toEqual([true, 1]);
    expect(first.count.losses).toBe(0);
    expect(first.count.failures).toBeGreaterThan(0);
  });
});

describe("losing a lease", () => {
  test("without its store an owner steps down while others still have to wait, and ends when it stays away", async () => {
    const { world, first, second } = await two();
    await world.pass(TTL_MS);
    world.mood = REFUSING;
    const stepped = await until(world, () => !first.live);
    expect(stepped).toBeGreaterThan(TTL_MS / 2 - 100);
    expect(stepped).toBeLessThanOrEqual(TTL_MS * 0.8);
    expect(first.running).toBe(true);
    await until(world, () => first.lost !== undefined);
    expect(first.lost?.message).toMatch(/^session s has lost its lease .*the lease store cannot be reached/);
    expect(second.running).toBe(true);
  });

  test("when its store is back in time it takes the lease back, under another token", async () => {
    const { world, first } = await two();
    world.mood = REFUSING;
    await until(world, () => !first.live);
    world.mood = FINE;
    await until(world, () => first.live, TTL_MS);
    expect(first.token).toBe(2);
    expect(first.count).toMatchObject({ acquisitions: 2, losses: 1 });
  });

  test.each([100, 5_000])(
    "it looks whether it can take it back as often as who waits does, %i ms, and each twentieth of the ttl at least",
    async (pollMs) => {
      const world = new World();
      const owner = new Owner(world, 1, { pollMs });
      owner.start();
      await until(world, () => owner.live);
      world.mood = REFUSING;
      await until(world, () => !owner.live);
      await world.pass(TTL_MS / 3);
      world.mood = FINE;
      expect(await until(world, () => owner.live, TTL_MS)).toBeLessThanOrEqual(Math.min(pollMs, TTL_MS / 20) + 50);
    },
  );

  test("frozen past its ttl it finds out before it does anything, and ends when another has taken over", async () => {
    const { world, first, second } = await two();
    first.machine.frozen = true;
    await until(world, () => second.live);
    expect(second.token).toBe(2);
    await first.machine.thaw();
    expect(first.live).toBe(false);
    await until(world, () => first.lost !== undefined, 1_000);
    expect(first.lost?.message).toContain("another instance holds it");
    expect(world.record).toMatchObject({ holder: second.holder, token: 2 });
    expect(second.live).toBe(true);
  });

  test("finding 7.5: it finds out as well when its monotonic clock stood still with it", async () => {
    const { world, first, second } = await two();
    first.machine.frozen = true;
    const since = world.time;
    await until(world, () => second.live);
    first.machine.stoodMs = world.time - since;
    first.machine.frozen = false;
    expect(first.live).toBe(false);
    await first.machine.thaw();
    await until(world, () => first.lost !== undefined, TTL_MS);
    expect(second.live).toBe(true);
  });

  test("frozen past its ttl with nobody else there it steps down too, and takes the lease back", async () => {
    const { world, owners } = await instances(1);
    const [owner] = owners;
    if (owner === undefined) throw new Error("no owner");
    owner.machine.frozen = true;
    await world.pass(5 * TTL_MS);
    owner.machine.frozen = false;
    expect(owner.live).toBe(false);
    await owner.machine.thaw();
    await until(world, () => owner.live, TTL_MS);
    expect(owner.token).toBe(2);
    expect(owner.count.losses).toBe(1);
  });

  test("a stale release does nothing", async () => {
    const { world, first, second } = await two();
    first.machine.frozen = true;
    await until(world, () => second.live);
    await first.machine.thaw();
    const stopped = first.stop();
    await world.pass(TTL_MS / 2);
    await stopped;
    expect(world.record).toMatchObject({ holder: second.holder, token: 2 });
  });

  test("a lease that was taken in spite of all is not fought for", async () => {
    const { world, first } = await two();
    world.record = { holder: "somebody", token: 9, beat: 1, ttlMs: TTL_MS };
    await until(world, () => first.lost !== undefined, TTL_MS / 2);
    expect(first.live).toBe(false);
    expect(world.record).toEqual({ holder: "somebody", token: 9, beat: 1, ttlMs: TTL_MS });
  });

  test("what a former runtime of this process left behind is its own", async () => {
    const { world, first } = await two();
    world.mood = REFUSING;
    const stopped = first.stop();
    await world.pass(TTL_MS / 4);
    await stopped;
    expect(world.record?.holder).toBe(first.holder);
    world.mood = FINE;
    first.start();
    expect(await until(world, () => first.live)).toBeLessThan(100);
    expect(first.token).toBe(2);
  });
});

describe("finding 10.1: a lease under which something is open", () => {
  test.each(["stopped", "lapsed"])("is released when that has closed, and not before (%s)", async (why) => {
    const { world, owners } = await instances(1);
    const [owner] = owners;
    if (owner === undefined) throw new Error("no owner");
    const closed = owner.open();
    const released: string[] = [];
    world.replaced = (before, after) => {
      if (after.holder === "") released.push(before?.holder ?? "");
    };
    if (why === "stopped") void owner.stop();
    else {
      owner.machine.frozen = true;
      await world.pass(TTL_MS);
      await owner.machine.thaw();
    }
    await world.pass(1_000);
    expect(owner.live).toBe(false);
    expect([world.record?.holder, released]).toEqual([owner.holder, []]);
    closed();
    await until(world, () => released.length === 1, 1_000);
    expect(released).toEqual([owner.holder]);
  });

  test("is left to its ttl when that does not close in time", async () => {
    const { world, first, second } = await two();
    first.open();
    const stopped = first.stop();
    await world.pass(TTL_MS / 2);
    await stopped;
    expect(world.record?.holder).toBe(first.holder);
    await until(world, () => second.live, 2 * TTL_MS);
    expect(second.token).toBe(2);
  });
});
