import { describe, expect, test } from "vitest";
import { Owner, POLL_MS, TTL_MS } from "./owner.ts";
import { FINE, World } from "./world.ts";

const PATIENCE_MS = 3 * TTL_MS;
/** It looks when it renews. */
const LOOK_MS = TTL_MS / 4 + 100;
const STAND_BACK_MS = 4 * POLL_MS;

/** Instances that have started one after another; the first has the lease. */
async function instances(reaching: readonly boolean[]): Promise<{ world: World; owners: readonly Owner[] }> {
  const world = new World();
  const owners = reaching.map((reaches) => Object.assign(new Owner(world, 1), { reaches }));
  for (const owner of owners) {
    owner.start();
    await world.pass(300);
  }
  return { world, owners };
}

async function two(first: boolean, second: boolean): Promise<{ world: World; first: Owner; second: Owner }> {
  const { world, owners } = await instances([first, second]);
  return { world, first: owners[0] as Owner, second: owners[1] as Owner };
}

async function until(world: World, condition: () => boolean, atMostMs: number): Promise<number> {
  const from = world.time;
  while (!condition()) {
    if (world.time - from > atMostMs) throw new Error("it never was so");
    await world.pass(50);
  }
  return world.time - from;
}

/** The times between yields, in ttls, until `count` have been made. */
async function yields(world: World, owners: readonly Owner[], count: number): Promise<readonly number[]> {
  const made = (): number => owners.reduce((sum, owner) => sum + owner.count.yields, 0);
  const patiences: number[] = [];
  for (let before = made(); patiences.length < count; before = made()) {
    const took = await until(world, () => made() > before, 100 * TTL_MS);
    patiences.push(Math.round(took / TTL_MS));
  }
  return patiences;
}

describe("finding 6.8: an owner that has lost its broker and not its lease store", () => {
  test("yields its lease after three ttls to an instance that is there, and waits like any other from then on", async () => {
    const { world, first, second } = await two(true, true);
    await world.pass(10 * TTL_MS);
    expect(first.connected).toBe(true);
    first.reaches = false;
    const after = await until(world, () => second.connected, 10 * TTL_MS);
    expect(after).toBeGreaterThanOrEqual(PATIENCE_MS - LOOK_MS);
    expect(after).toBeLessThanOrEqual(PATIENCE_MS + LOOK_MS + POLL_MS + 100);
    expect(first.count).toMatchObject({ acquisitions: 1, yields: 1, losses: 0 });
    await world.pass(10 * TTL_MS);
    expect([first.running, first.live, second.connected, second.token]).toEqual([true, false, true, 2]);
    second.kill();
    await until(world, () => first.live, TTL_MS + STAND_BACK_MS + 2 * POLL_MS);
    expect(first.token).toBe(3);
  });

  test("one that has never been connected yields as well", async () => {
    const { world, second } = await two(false, true);
    expect(await until(world, () => second.connected, 10 * TTL_MS)).toBeLessThanOrEqual(
      PATIENCE_MS + LOOK_MS + POLL_MS,
    );
  });

  test("keeps it when it is connected again in time, and when connections are short", async () => {
    const { world, first } = await two(true, true);
    for (let times = 0; times < 5; times++) {
      first.reaches = false;
      await world.pass(PATIENCE_MS - LOOK_MS);
      first.reaches = true;
      await world.pass(10);
    }
    expect(first.count).toMatchObject({ acquisitions: 1, yields: 0 });
  });

  test("does not yield before what was open under the lease has closed", async () => {
    const { world, first, second } = await two(false, true);
    const closed = first.open();
    await until(world, () => !first.live, 10 * TTL_MS);
    await world.pass(2_000);
    expect([world.record?.holder, second.live]).toEqual([first.holder, false]);
    closed();
    await until(world, () => second.live, 2 * POLL_MS);
  });

  test("leaves it to others also when it could not be released", async () => {
    const { world, first, second } = await two(false, true);
    await until(world, () => world.time > PATIENCE_MS - LOOK_MS, PATIENCE_MS);
    world.replaced = () => {
      if (world.time > PATIENCE_MS) world.mood = { kind: "refusing", latencyMs: 5 };
    };
    await until(world, () => first.count.yields === 1, TTL_MS);
    world.replaced = () => {};
    await world.pass(POLL_MS);
    world.mood = FINE;
    expect(world.record?.holder).toBe(first.holder);
    await until(world, () => second.live, TTL_MS + 2 * POLL_MS);
    expect(first.count.acquisitions).toBe(1);
  });

  test("alone it has the lease again after four looks, and is patient twice as long each time, up to 12 ttls", async () => {
    const { world, owners } = await instances([false]);
    const [owner] = owners as [Owner];
    expect(await yields(world, owners, 5)).toEqual([3, 6, 12, 12, 12]);
    expect(await until(world, () => owner.live, TTL_MS)).toBeLessThanOrEqual(STAND_BACK_MS + POLL_MS);
    owner.reaches = true;
    await world.pass(TTL_MS);
    owner.reaches = false;
    expect(await yields(world, owners, 2)).toEqual([3, 6]);
    expect(owner.count.losses).toBe(0);
  });

  test("two without a broker pass it on ever more seldom, in turn, so that the first that reaches it keeps it", async () => {
    const { world, first, second } = await two(false, false);
    expect(await yields(world, [first, second], 8)).toEqual([3, 3, 6, 6, 12, 12, 12, 12]);
    expect([first.count.yields, second.count.yields]).toEqual([4, 4]);
    await until(world, () => first.live, TTL_MS);
    second.reaches = true;
    await until(world, () => second.connected, 14 * TTL_MS);
  });

  test("of several, one that has not tried comes before those that have", async () => {
    const { world, owners } = await instances([false, false, true]);
    const [first, second, third] = owners as [Owner, Owner, Owner];
    await until(world, () => third.connected, 2 * (PATIENCE_MS + LOOK_MS + POLL_MS));
    expect(first.count.acquisitions).toBe(1);
    expect(second.count.acquisitions).toBeLessThanOrEqual(1);
  });

  test("is stopped at once while it stands back, and touches nothing", async () => {
    const { world, owners } = await instances([false]);
    const [owner] = owners as [Owner];
    await until(world, () => owner.count.yields === 1, 10 * TTL_MS);
    await world.pass(100);
    const { record } = world;
    const stopped = owner.stop();
    await world.pass(50);
    await stopped;
    expect(record?.holder).toBe("");
    expect(world.record).toEqual(record);
  });
});
