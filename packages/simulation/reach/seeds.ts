import { readdir, readFile } from "node:fs/promises";
import { env } from "node:process";
import { expect, test } from "vitest";
import { parseScenario, runPlan, runSeed } from "../src/index.ts";

const CORPUS = new URL("../corpus.json", import.meta.url);
const SCENARIOS = new URL("../scenarios/", import.meta.url);
const SEEDS = Number(env["SEEDS"] ?? 500);
const LONGEST_MS = 2 * 3_600_000;

test("the seeds of the corpus, and those of each check, hold", { timeout: LONGEST_MS }, async () => {
  const { seeds } = JSON.parse(await readFile(CORPUS, "utf8")) as { readonly seeds: readonly number[] };
  const all = new Set([...seeds, ...Array.from({ length: SEEDS }, (_, index) => index + 1)]);
  for (const seed of all) {
    const { violations } = await runSeed(seed);
    expect({ seed, violations }).toEqual({ seed, violations: [] });
  }
});

test("the scenarios hold", { timeout: LONGEST_MS }, async () => {
  for (const name of await readdir(SCENARIOS)) {
    const { plan } = parseScenario(await readFile(new URL(name, SCENARIOS), "utf8"));
    const { violations } = await runPlan(plan);
    expect({ name, violations }).toEqual({ name, violations: [] });
  }
});
