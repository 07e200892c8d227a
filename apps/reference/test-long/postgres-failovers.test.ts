import { expect, test } from "vitest";
import { IN_FLIGHT, PostgresPair, type Trouble } from "../test/support/postgres-pair.ts";

const ROUND: readonly Trouble[] = ["restart", "kill the owner", "crash", "freeze", "freeze past the ttl"];
const ROUNDS = 3;

test.each(["direct_hold", "shared_outbox"] as const)(
  `%s on one PostgreSQL: ${ROUNDS} rounds of restarts, crashes, standstills and kills lose nothing`,
  async (mode) => {
    const troubles = Array.from({ length: ROUNDS }, () => ROUND).flat();
    await using pair = await PostgresPair.start(mode);
    await pair.through(troubles);
    const twice = pair.target.accepted.length - pair.published;
    console.log(`${mode}: ${pair.published} messages, ${twice} twice, through ${troubles.length} troubles`);
    expect(pair.distinct).toBe(pair.published);
    expect(twice).toBeLessThanOrEqual(troubles.length * 2 * IN_FLIGHT);
    expect(new Set(await pair.unaccounted())).toEqual(new Set(["0"]));
  },
);
