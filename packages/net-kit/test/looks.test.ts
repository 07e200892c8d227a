import { type Clock, systemClock } from "@bridge/ports";
import { expect, it } from "vitest";
import { open } from "./support.ts";

it.each([
  [500, 500],
  [1_000, 1_000],
  [60_000, 1_000],
])("answers that are not taken for %i ms are looked for every %i ms", async (answerTimeoutMs, lookMs) => {
  const looks: number[] = [];
  const clock: Clock = {
    ...systemClock,
    every(ms, tick) {
      looks.push(ms);
      return systemClock.every(ms, tick);
    },
  };
  await using server = await open({ clock, limits: { answerTimeoutMs } });
  expect([server.stats().connections, looks]).toEqual([0, [lookMs]]);
});
