/** `pnpm simulate:known-bugs`: puts known bugs back into a copy of the engine, and looks whether seeds find them. @module */
import process from "node:process";
import { parseArgs } from "node:util";
import { copyOfSources } from "./copy-of-sources.ts";
import { hunt } from "./hunt.ts";
import { type KnownBug, knownBugs, putBack, takeOut } from "./known-bug.ts";

const USAGE = "usage: pnpm simulate:known-bugs [--seeds N] [--from N] [--save FOLDER] [NAME…]\n";
const SEEDS = 20_000;

async function main(args: readonly string[]): Promise<number> {
  const asked = await whatIsAsked(args);
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  await using copy = await copyOfSources("simulation");
  let surprises = 0;
  process.stdout.write("| Bug | Seeds | Found by |\n| --- | --- | --- |\n");
  for (const bug of asked.bugs) {
    await putBack(bug, copy.folder);
    const { seeds, violation } = await hunt({ ...asked, folder: copy.folder });
    await takeOut(bug, copy.folder);
    if (violation === undefined && bug.lacks === undefined) surprises++;
    const found = violation ?? `**missed**: ${bug.lacks ?? "nobody knows why"}`;
    process.stdout.write(`| ${bug.what} (\`${bug.name}\`) | ${seeds} | ${found} |\n`);
  }
  return surprises === 0 ? 0 : 1;
}

async function whatIsAsked(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { seeds: { type: "string" }, from: { type: "string" }, save: { type: "string" } },
    });
    const all = await knownBugs();
    const bugs = positionals.length === 0 ? all : positionals.map((name) => all.find((bug) => bug.name === name));
    const seeds = Number(values.seeds ?? SEEDS);
    const from = Number(values.from ?? 1);
    if (!(seeds >= 1) || !Number.isSafeInteger(from) || !bugs.every((bug): bug is KnownBug => bug !== undefined))
      return undefined;
    return { bugs, seeds, from, save: values.save };
  } catch {
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
