import { PATIENCE } from "@bridge/tooling/patience";
import { type Clock, systemClock } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { openScratchDlq } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const MEGABYTE = 1024 * 1024;

test("at max_bytes an entry is refused, with the remedy, until some are deleted", async () => {
  await using store = openScratchDlq({ maxBytes: MEGABYTE });
  let put = 0;
  const fill = async (): Promise<void> => {
    for (;;) await store.put(deadLetter(`e${put++}`, { failedAt: put }, 50_000), signal);
  };
  await expect(fill()).rejects.toThrow(/holds max_bytes 1048576: redrive or delete entries, or raise max_bytes/);
  await expect(fill()).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
  expect(put).toBeGreaterThan(15);
  expect(await store.admin.deleteWhere({}, 10, signal)).toBe(10);
  await store.put(deadLetter("again"), signal);
});

test("entries are deleted when their retention has passed, and not before", async () => {
  let now = 1_000_000;
  let tick = (): void => {};
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    every(_ms, given) {
      tick = given;
      return { [Symbol.dispose]() {} };
    },
  };
  await using store = openScratchDlq({ retentionMs: 60_000, clock });
  for (const [id, age] of [
    ["old", 60_001],
    ["on the edge", 60_000],
    ["young", 10],
  ] as const) {
    await store.put(deadLetter(id, { failedAt: now - age }), signal);
  }
  const ids = async (): Promise<string[]> =>
    (await store.list({}, { limit: 10, offset: 0 }, signal)).map(({ id }) => id);
  tick();
  await vi.waitFor(async () => expect(await ids()).toEqual(["on the edge", "young"]), PATIENCE);
  now += 1;
  // A round that has not ended yet takes no further tick.
  await vi.waitFor(async () => {
    tick();
    expect(await ids()).toEqual(["young"]);
  }, PATIENCE);
});

test("a long deletion lets others have their turn, and can be given up", async () => {
  await using store = openScratchDlq();
  const total = 5_000;
  await Promise.all(Array.from({ length: total }, (_, i) => store.put(deadLetter(`e${i}`, { failedAt: i }), signal)));
  const controller = new AbortController();
  const reason = new Error("given up");
  let turns = 0;
  const deletion = store.admin.deleteWhere({}, undefined, controller.signal);
  const counting = (async () => {
    while ((await store.count(total, signal)) > total / 2) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    controller.abort(reason);
  })();
  await expect(deletion).rejects.toBe(reason);
  await counting;
  expect(turns).toBeGreaterThan(3);
  const left = await store.count(total, signal);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(total / 2);
  expect(await store.admin.deleteWhere({}, undefined, signal)).toBeGreaterThan(0);
  expect(await store.count(total, signal)).toBe(0);
});
