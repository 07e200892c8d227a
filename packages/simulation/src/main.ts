/** `pnpm simulate`: runs seeds, one after another, or a scenario. @module */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { systemClock } from "@bridge/ports";
import { type Asked, asked, USAGE } from "./asked.ts";
import { runPlan } from "./run/run-seed.ts";
import { parseScenario } from "./scenario.ts";
import { story } from "./story.ts";
import { inThreads } from "./threads/in-threads.ts";

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
  const numbers = await numbersOf(what, () => elapsed() < what.forMs);
  for await (const told of inThreads(numbers, what)) {
    sums.seeds++;
    sums.messages += told.messages;
    sums.faults += told.faults;
    sums.instances += told.instances;
    sums.virtualMs += told.virtualMs;
    process.stdout.write(told.text);
    if (!told.isViolated) continue;
    sums.violations++;
    if (what.first) break;
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

/** `goesOn`: asked before each. */
async function numbersOf({ corpus, from, seeds: many }: Asked, goesOn: () => boolean): Promise<Iterable<number>> {
  const first = corpus
    ? (JSON.parse(await readFile(CORPUS, "utf8")) as { readonly seeds: readonly number[] }).seeds
    : [];
  return (function* () {
    for (const seed of first) if (goesOn()) yield seed;
    for (let seed = from; seed < from + many && goesOn(); seed++) yield seed;
  })();
}

process.exitCode = await main();
