/** `pnpm simulate`: runs seeds, one after another, or a scenario. @module */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { systemClock } from "@bridge/ports";
import { type Asked, asked, USAGE } from "./asked.ts";
import { runPlan, runSeed, type SeedRun } from "./run/run-seed.ts";
import { parseScenario, scenarioText } from "./scenario.ts";
import { breaksLike } from "./shrink/breaks-like.ts";
import { shrink } from "./shrink/shrink.ts";
import { story } from "./story.ts";

/** What is shrunk is as short as it becomes within this. */
const SHRINK_MS = 30_000;
const CORPUS = new URL("../corpus.json", import.meta.url);

async function main(): Promise<number> {
  const what = asked(process.argv.slice(2));
  if (what === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  return what.scenario === undefined ? seeds(what) : scenario(what.scenario);
}

async function scenario(file: string): Promise<number> {
  let read;
  try {
    read = parseScenario(await readFile(file, "utf8"));
  } catch (error) {
    process.stderr.write(`${file}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const run = await runPlan(read.plan, true);
  const broken = run.violations.length > 0;
  process.stdout.write(
    broken ? story(run, `pnpm simulate --scenario ${file}`) : `${file} ok ${run.digest}: ${read.what}\n`,
  );
  return broken ? 1 : 0;
}

async function seeds(what: Asked): Promise<number> {
  const began = systemClock.monotonic();
  const elapsed = (): number => systemClock.monotonic() - began;
  const sums = { seeds: 0, messages: 0, faults: 0, instances: 0, virtualMs: 0, violations: 0 };
  process.stderr.write(`from seed ${what.from}\n`);
  for (const seed of await numbers(what)) {
    if (elapsed() >= what.forMs) break;
    const run = await runSeed(seed);
    sums.seeds++;
    sums.messages += run.plan.messages.length;
    sums.faults += run.plan.faults.length;
    sums.instances += run.instances;
    sums.virtualMs += run.virtualMs;
    if (run.violations.length === 0) {
      process.stdout.write(`seed ${seed} ok ${run.digest}\n`);
    } else {
      sums.violations++;
      process.stdout.write(await toldOf(run, what.save));
      if (what.first) break;
    }
  }
  const minutes = elapsed() / 60_000;
  const each = (sum: number): string => (sum / sums.seeds).toFixed(1);
  process.stderr.write(
    `${sums.seeds} seeds, ${sums.violations} violated, ${Math.round(sums.seeds / minutes)} a minute; ` +
      `each ${each(sums.messages)} messages, ${each(sums.faults)} faults, ${each(sums.instances)} instances, ` +
      `${each(sums.virtualMs / 60_000)} virtual minutes\n`,
  );
  return sums.violations === 0 ? 0 : 1;
}

async function numbers({ corpus, from, seeds: many }: Asked): Promise<Iterable<number>> {
  const first = corpus
    ? (JSON.parse(await readFile(CORPUS, "utf8")) as { readonly seeds: readonly number[] }).seeds
    : [];
  return (function* () {
    yield* first;
    for (let seed = from; seed < from + many; seed++) yield seed;
  })();
}

/** The story of the shortest plan that breaks the same. */
async function toldOf({ plan, violations }: SeedRun, folder: string | undefined): Promise<string> {
  const until = systemClock.monotonic() + SHRINK_MS;
  const shortest = await shrink(plan, {
    breaks: breaksLike(violations),
    goesOn: () => systemClock.monotonic() < until,
  });
  const run = await runPlan(shortest, true);
  if (folder === undefined) return story(run);
  const file = join(folder, `seed-${plan.seed}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, scenarioText({ what: run.violations[0] ?? "", plan: shortest }));
  return story(run, `pnpm simulate --scenario ${file}`);
}

process.exitCode = await main();
