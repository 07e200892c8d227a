import { expect, test } from "vitest";
import { failovers } from "../test/support/failovers.ts";

const FAILOVERS = 50;
const IN_FLIGHT = 20;

test(`${FAILOVERS} failovers by SIGKILL under traffic: nothing is lost, and what comes twice was in flight`, async () => {
  const { published, missing, repeats, tookMs } = await failovers(FAILOVERS);
  const sorted = tookMs.toSorted((a, b) => a - b);
  const [least, median, most] = [0, 0.5, 1].map((part) => sorted[Math.round((sorted.length - 1) * part)]?.toFixed(0));
  console.log(`${published} messages, ${repeats} twice; takeovers in ${least} to ${most} ms, median ${median}`);
  expect(missing).toBe(0);
  expect(repeats).toBeLessThanOrEqual(FAILOVERS * IN_FLIGHT);
});
