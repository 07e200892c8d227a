import { readFile } from "node:fs/promises";
import { env } from "node:process";
import { expect, test } from "vitest";
import { runSeed } from "../src/index.ts";

const CORPUS = new URL("../corpus.json", import.meta.url);
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
