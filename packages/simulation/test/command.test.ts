import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { draw, type Plan, scenarioText } from "../src/index.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const CORPUS = new URL("../corpus.json", import.meta.url);
const run = promisify(execFile);
const simulate = (...args: readonly string[]) =>
  run(process.execPath, ["--conditions=@bridge/source", MAIN, ...args], { timeout: 600_000 });

test(
  "a seed that holds is one line on standard output, and the pace stands on the other",
  { timeout: 120_000 },
  async () => {
    const { stdout, stderr } = await simulate("--seeds", "2", "--from", "3");
    expect(stdout).toMatch(/^seed 3 ok [0-9a-f]{64}\nseed 4 ok [0-9a-f]{64}\n$/);
    expect(stderr).toContain("2 seeds, 0 violated");
  },
);

async function fileOf(plan: Plan): Promise<AsyncDisposable & { readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), "bridge-scenario-"));
  const file = join(folder, "scenario.json");
  await writeFile(file, scenarioText({ what: "A seed.", plan }));
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

test("a scenario that holds is one line, and one that does not is told with its command", async () => {
  const plan = draw(3);
  await using holds = await fileOf(plan);
  const { stdout } = await simulate("--scenario", holds.file);
  expect(stdout).toMatch(/^\S+ ok [0-9a-f]{64}: A seed\.\n$/);
  await using breaks = await fileOf({ ...plan, document: { ...plan.document, routes: [] } });
  await expect(simulate("--scenario", breaks.file)).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`again: pnpm simulate --scenario ${breaks.file}`) as string,
  });
}, 120_000);

test("a fresh seed is printed, and runs", { timeout: 120_000 }, async () => {
  const { stdout, stderr } = await simulate("--from", "random", "--seeds", "1");
  const from = /^from seed (\d+)$/m.exec(stderr)?.[1] ?? "none";
  expect(stdout).toMatch(new RegExp(`^seed ${from} ok `));
});

test("the seeds of the corpus come before others", { timeout: 120_000 }, async () => {
  const { seeds } = JSON.parse(await readFile(CORPUS, "utf8")) as { readonly seeds: readonly number[] };
  const { stdout } = await simulate("--from", "random", "--corpus", "--for", "1s");
  expect(stdout).toMatch(new RegExp(`^seed ${seeds[0]} ok `));
});

test.each([
  [["--seeds", "0"]],
  [["--for", "1h"]],
  [["--from", "x"]],
  [["--many"]],
  [["--scenario", "a.json", "--seeds", "2"]],
])("%s is a fault of usage", { timeout: 120_000 }, async (args) => {
  await expect(simulate(...args)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("usage:") as string,
  });
});
