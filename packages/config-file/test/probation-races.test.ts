import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BridgeConfig,
  type ConfigApplier,
  createConfigTransactions,
  createRegistry,
  type Reverted,
} from "@bridge/config";
import { silentLogger, systemRandom } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { expect, it } from "vitest";
import { openConfigFile } from "../src/index.ts";

const NEVER = new AbortController().signal;
const ROUNDS = times(100, 1_000);
const NOTHING = { added: [], removed: [], restarted: [], kept: [] };

it(
  `operators 7: on a file, of a confirmation and the end of its time exactly one wins, ${ROUNDS} times`,
  { timeout: 600_000 },
  async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-races-"));
    const path = join(folder.path, "bridge.yaml");
    writeFileSync(path, "# ours\nbridge: {id: plant-7, drain_timeout: 20s} # here\n");
    await using store = openConfigFile(path);
    const clock = new ManualClock();
    const applied: BridgeConfig[] = [];
    const reverted: Reverted[] = [];
    const plan = { unchanged: false, routes: NOTHING, sessions: NOTHING, stores: [], inPlace: [], restartRequired: [] };
    const applier: ConfigApplier = {
      async apply(config) {
        applied.push(config);
        return "applied";
      },
      stranding: () => Promise.resolve(undefined),
      beyondRecovery: () => false,
      plan: () => Promise.resolve(plan),
      trial: { running: () => true, reaches: () => true, sends: () => ({ sends: 0, failed: 0 }) },
    };
    const transactions = createConfigTransactions({
      store,
      registry: createRegistry({}),
      sources: { env: () => undefined, file: () => Promise.reject(new Error("it is not there")) },
      applier,
      clock,
      random: systemRandom(),
      logger: silentLogger,
      onReverted: (one) => void reverted.push(one),
    });
    const won = { confirmed: 0, reverted: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const former = readFileSync(path);
      const { id } = await transactions.open(60_000, NEVER);
      await transactions.patch(id, { bridge: { drain_timeout: `${21 + (round % 2)}s`, id: `plant-${round}` } }, NEVER);
      const committed = await transactions.commit(id, "alice", { withinMs: 10_000 });
      if (committed.status !== "probation") throw new Error(JSON.stringify(committed));
      const { version } = committed;
      const tried = readFileSync(path);
      const confirm = (): Promise<string> =>
        transactions.confirm(version).then(
          () => "confirmed",
          (error: { reason?: string }) => String(error.reason),
        );
      const early = round % 3 === 0 ? confirm() : undefined;
      clock.advance(10_000);
      if (round % 3 === 1) await new Promise(setImmediate);
      const answer = await (early ?? confirm());
      await transactions.underWay?.catch(() => {});
      const [runs, stands] = [applied.at(-1)?.configVersion, readFileSync(path)];
      if (answer === "confirmed") expect([runs, stands.equals(tried)]).toEqual([version, true]);
      else expect([answer, runs, stands.equals(former)]).toEqual(["reverted", committed.formerVersion, true]);
      won[answer as keyof typeof won]++;
      expect(transactions.probation()).toBeUndefined();
      expect(existsSync(`${path}.probation`)).toBe(false);
    }
    expect(won.confirmed + won.reverted).toBe(ROUNDS);
    expect(Math.min(won.confirmed, won.reverted)).toBeGreaterThan(0);
    expect(reverted).toHaveLength(won.reverted);
    expect(clock.ticking).toBe(0);
    expect(readdirSync(`${path}.versions`).length).toBeLessThanOrEqual(20);
  },
);
