import { expect, test } from "vitest";
import { ReconnectPause } from "../../src/session/reconnect-pause.ts";

/** Without jitter. */
const pauses = (): ReconnectPause => new ReconnectPause(() => 0.5);

test("a peer that cannot be reached is asked ever less often, up to every 30 s", () => {
  const pause = pauses();
  expect(Array.from({ length: 10 }, () => pause.afterRefusal())).toEqual([
    200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000,
  ]);
});

test("finding 6.5: ten restarts in a row are each waited for as the first is, however soon the next one comes", () => {
  const pause = pauses();
  for (let restart = 0; restart < 10; restart++) {
    expect(pause.afterLoss(500)).toBeLessThanOrEqual(1_600);
    expect([pause.afterRefusal(), pause.afterRefusal()]).toEqual([200, 400]);
  }
});

test("finding 6.5: a peer that ends connection after connection is asked ever less often, until one lives for 3 s", () => {
  const pause = pauses();
  expect(Array.from({ length: 10 }, () => pause.afterLoss(0))).toEqual([
    200,
    400,
    800,
    ...Array<number>(7).fill(1_600),
  ]);
  expect(Array.from({ length: 5 }, () => pause.afterLoss(0))).toEqual([3_200, 6_400, 12_800, 25_600, 30_000]);
  expect(pause.failures).toBe(15);
  expect([pause.afterLoss(3_000), pause.afterLoss(2_999)]).toEqual([200, 400]);
});
