import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@bridge/ports";
import { runPlan, runSeed, type SeedRun } from "../run/run-seed.ts";
import { scenarioText } from "../scenario.ts";
import { breaksLike } from "../shrink/breaks-like.ts";
import { shrink } from "../shrink/shrink.ts";
import { story } from "../story.ts";

/** How long shrinking may take. */
const SHRINK_MS = 30_000;

/** What to report about a seed. */
export interface Told {
  /** One line when it holds, else its story. */
  readonly text: string;
  readonly isViolated: boolean;
  readonly messages: number;
  readonly faults: number;
  readonly instances: number;
  readonly virtualMs: number;
}

/** Runs a seed and reports on it. `save`: the folder for the scenario if it has a violation. */
export async function tell(seed: number, save: string | undefined): Promise<Told> {
  const run = await runSeed(seed);
  const isViolated = run.violations.length > 0;
  return {
    text: isViolated ? await shortest(run, save) : `seed ${seed} ok ${run.digest}\n`,
    isViolated,
    messages: run.plan.messages.length,
    faults: run.plan.faults.length,
    instances: run.instances,
    virtualMs: run.virtualMs,
  };
}

/** The story of the shortest plan that breaks the same. */
async function shortest({ plan, violations }: SeedRun, folder: string | undefined): Promise<string> {
  const until = systemClock.monotonic() + SHRINK_MS;
  const found = await shrink(plan, {
    breaks: breaksLike(violations),
    goesOn: () => systemClock.monotonic() < until,
  });
  const run = await runPlan(found, true);
  if (folder === undefined) return story(run);
  const file = join(folder, `seed-${plan.seed}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, scenarioText({ what: run.violations[0] ?? "", plan: found }));
  return story(run, `pnpm simulate --scenario ${file}`);
}
