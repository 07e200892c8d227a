import { type Clock, silentLogger } from "../../src/seams.ts";
import { systemClock } from "../../src/system.ts";
import { expect, test } from "vitest";
import { sweepEvery } from "../../src/store/sweep.ts";

/** What was already on its way has its turn. */
async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock whose ticks the test gives. */
function tickingClock(): { readonly clock: Clock; readonly tick: () => void; readonly stopped: () => boolean } {
  let given: (() => void) | undefined;
  const clock: Clock = {
    ...systemClock,
    every(_ms, tick) {
      given = tick;
      return { [Symbol.dispose]: () => (given = undefined) };
    },
  };
  return { clock, tick: () => given?.(), stopped: () => given === undefined };
}

test("a round does not begin before the last one has ended", async () => {
  const { clock, tick } = tickingClock();
  const rounds: PromiseWithResolvers<void>[] = [];
  const round = (): Promise<void> => {
    const next = Promise.withResolvers<void>();
    rounds.push(next);
    return next.promise;
  };
  const sweep = sweepEvery(1, round, { clock, logger: silentLogger });
  tick();
  tick();
  expect(rounds).toHaveLength(1);
  rounds[0]?.resolve();
  await rounds[0]?.promise;
  await turns();
  tick();
  expect(rounds).toHaveLength(2);
  rounds[1]?.resolve();
  await sweep[Symbol.asyncDispose]();
});

test("a round that fails is logged, and the next one comes", async () => {
  const { clock, tick } = tickingClock();
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields: unknown) => void warnings.push(fields) };
  let rounds = 0;
  const round = async (): Promise<void> => {
    rounds++;
    throw new Error("no disk");
  };
  const sweep = sweepEvery(1, round, { clock, logger });
  tick();
  await turns();
  tick();
  await turns();
  await sweep[Symbol.asyncDispose]();
  expect(rounds).toBe(2);
  expect(warnings).toEqual([{ error: "no disk" }, { error: "no disk" }]);
});

test("the end gives up a round, waits for it, and leaves no timer", async () => {
  const { clock, tick, stopped } = tickingClock();
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields: unknown) => void warnings.push(fields) };
  let ended = false;
  const round = async (signal: AbortSignal): Promise<void> => {
    await clock.delay(60_000, signal).finally(() => (ended = true));
  };
  const sweep = sweepEvery(1, round, { clock, logger });
  tick();
  await sweep[Symbol.asyncDispose]();
  expect(ended).toBe(true);
  expect(stopped()).toBe(true);
  expect(warnings).toEqual([]);
});
