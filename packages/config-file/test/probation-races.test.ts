import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { times } from "@bridge/tooling/long";
import { expect, it } from "vitest";
import { trying } from "./support/trying.ts";

const ROUNDS = times(100, 1_000);

it(
  `operators 7: on a file, of a confirmation and the end of its time exactly one wins, ${ROUNDS} times`,
  { timeout: 600_000 },
  async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-races-"));
    await using stage = trying(folder.path);
    const { path, clock, transactions, applied, reverted } = stage;
    const won = { confirmed: 0, reverted: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const former = readFileSync(path);
      const formerVersion = applied.at(-1)?.configVersion ?? 0;
      const version = await stage.tryOut({ bridge: { drain_timeout: `${21 + (round % 2)}s`, id: `plant-${round}` } });
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
      else expect([answer, runs, stands.equals(former)]).toEqual(["reverted", formerVersion, true]);
      won[answer as keyof typeof won]++;
      expect(transactions.probation()).toBeUndefined();
      expect(existsSync(`${path}.probation`)).toBe(false);
    }
    expect(won.confirmed + won.reverted).toBe(ROUNDS);
    expect(Math.min(won.confirmed, won.reverted)).toBeGreaterThan(0);
    expect(reverted).toHaveLength(won.reverted);
    await transactions.suspend();
    expect(clock.ticking).toBe(0);
    expect(readdirSync(`${path}.versions`).length).toBeLessThanOrEqual(20);
  },
);
