/** `pnpm simulate:corpus`: looks for seeds that reach what no other does, and keeps them. @module */
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { parseArgs } from "node:util";
import { runSeed } from "../run/run-seed.ts";
import { Reached } from "./reached.ts";

const USAGE = "usage: pnpm simulate:corpus [--seeds N] [--from N]\n";
const SEEDS = 2_000;
const FILE = new URL("../../corpus.json", import.meta.url);
const ENGINE = ["core/src/", "config/src/transaction/"].map(
  (folder) => new URL(`../../../${folder}`, import.meta.url).href,
);

async function main(args: readonly string[]): Promise<number> {
  const asked = whatIsAsked(args);
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  using reached = new Reached(ENGINE);
  await reached.begin();
  const pairs = new Set<string>();
  const seeds: number[] = [];
  for (let seed = asked.from; seed < asked.from + asked.seeds; seed++) {
    const { trace } = await runSeed(seed, true);
    const met = trace.flatMap((line) => /fault: (.*)\n$/.exec(line)?.[1] ?? []).filter((pair) => !pairs.has(pair));
    for (const pair of met) pairs.add(pair);
    const bytes = await reached.more();
    if (bytes === 0 && met.length === 0) continue;
    seeds.push(seed);
    process.stdout.write(`seed ${seed}: ${bytes} bytes of source${met.map((pair) => `, ${pair}`).join("")}\n`);
  }
  await writeFile(FILE, `${JSON.stringify({ seeds })}\n`);
  process.stderr.write(`${seeds.length} seeds of ${asked.seeds}, ${pairs.size} pairs of a fault and a state\n`);
  return 0;
}

function whatIsAsked(args: readonly string[]): { readonly seeds: number; readonly from: number } | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { seeds: { type: "string" }, from: { type: "string" } } });
    const [seeds, from] = [Number(values.seeds ?? SEEDS), Number(values.from ?? 1)];
    return seeds >= 1 && Number.isSafeInteger(from) ? { seeds, from } : undefined;
  } catch {
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
