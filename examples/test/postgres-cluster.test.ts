import { fileURLToPath } from "node:url";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test, vi } from "vitest";
import { below, typed } from "./support/shell.ts";
import { TwoInstances } from "./support/two-instances.ts";

const START = fileURLToPath(new URL("../postgres-cluster/start.ts", import.meta.url));
const SOON = { timeout: 30_000, interval: 200 };

describe.skipIf(noPostgres)("a cluster on PostgreSQL", () => {
  test("the active one is killed, the other goes on, dead letters are seen from both, and every reading is accounted for", async () => {
    await using cluster = await TwoInstances.start(START);
    await cluster.printed(/tables of the store lease made/);
    await cluster.divided();

    const counted = async (): Promise<readonly string[]> =>
      (await typed(below("See the dead letters", cluster.stdout))).match(/"count":\d+/g) ?? [];
    await vi.waitFor(async () => {
      const [one, other] = await counted();
      expect(one).toMatch(/[1-9]/);
      expect(other).toBe(one);
    }, SOON);

    await cluster.killActive();

    // The instance that was killed has a runtime again some moments after its probes answer.
    await vi.waitFor(async () => {
      const redriven = await typed(below("Send the oldest again", cluster.stdout));
      expect(redriven).toContain('"redriven":1');
      expect(redriven).toContain('"error":"DLQ entry not found"');
    }, SOON);

    cluster.kill("SIGINT");
    expect(await cluster.ended).toBe(0);
    const [, published] = /published (\d+) · taken \d+ · refused \d+; unaccounted 0, /.exec(cluster.stdout) ?? [];
    expect(Number(published)).toBeGreaterThan(20);
  });
});
