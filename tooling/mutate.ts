/**
 * Breaks the code in small ways, one at a time, and runs the tests that reach the place: a mutant that no test notices
 * is a behaviour that nobody holds. `pnpm mutate [PACKAGE | FOLDER | FILE[:LINE[-LINE]]…] [--since REF] [--concurrency N]
 * [--sample N [--seed S]]`; docs/mutation.md.
 * @module
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { describeMutant, type Mutant, NamedMutants } from "./mutation/named-mutants.ts";
import { drawnFrom, drawSamples, likelyScore } from "./mutation/sample.ts";

/** What is mutated when nothing else is asked for: where a fault loses messages, leases or memory. */
const FOLDERS = [
  "net-kit/src",
  "file/src/database",
  "file/src/outbox",
  ...["lease", "outbox", "dlq", "route", "supervisor", "runtime"].map((part) => `core/src/${part}`),
];
/** Of a hundred mutants, so many have to be noticed, whatever the others are named. */
const LEAST_NOTICED = 85;
const ROOT = resolve(import.meta.dirname, "..");

type Result = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

/** An error outside of any test fails the run too. */
const NOTICED = new Set<Result["status"]>(["Killed", "Timeout", "RuntimeError"]);
const UNNOTICED = new Set<Result["status"]>(["Survived", "NoCoverage"]);

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    since: { type: "string" },
    concurrency: { type: "string", default: "1" },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});

const changed =
  flags.since &&
  new Set(
    execFileSync("git", ["diff", "--name-only", flags.since, "--", "packages"], { cwd: ROOT, encoding: "utf8" }).split(
      "\n",
    ),
  );

/** A file and, behind it, the lines that are asked for. */
const LINES = /^(.+\.ts):(\d+)(?:-(\d+))?$/;

/** The folder or file that an argument means: `net-kit`, `core/src/lease`, `packages/core/src/lease/term.ts`. */
function folderOf(argument: string): string {
  const path = argument.replace(/^(?:\.\/)?packages\//, "").replace(/\/$/, "");
  const folder = path.includes("/") ? path : `${path}/src`;
  if (!existsSync(resolve(ROOT, "packages", folder))) throw new Error(`there is no packages/${folder}`);
  return folder;
}

/** The package of a folder. */
function ownerOf(folder: string): string {
  return folder.slice(0, folder.indexOf("/"));
}

/** What is asked for by its lines, of each package, as one folder of it: so they cost its tests once. */
function linesOf(asked: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const patterns = new Map<string, string[]>();
  for (const argument of asked) {
    const [, file, from, to = from] = LINES.exec(argument) ?? [];
    if (file === undefined) continue;
    const path = folderOf(file);
    const owner = ownerOf(path);
    const pattern = `${path.slice(owner.length + 1)}:${from}-${to}`;
    patterns.set(owner, [...(patterns.get(owner) ?? []), pattern]);
  }
  return new Map([...patterns].map(([owner, all]) => [`${owner}/src`, all]));
}

/** What of a folder is mutated, as patterns from its package. */
function patternsOf(folder: string): string[] {
  const inPackage = folder.slice(folder.indexOf("/") + 1);
  if (inPackage.endsWith(".ts")) return [inPackage];
  if (changed === undefined || changed === "") return [`${inPackage}/**/!(index).ts`];
  return [...changed]
    .filter((file) => file.startsWith(`packages/${folder}/`) && file.endsWith(".ts") && existsSync(resolve(ROOT, file)))
    .map((file) => relative(`packages/${ownerOf(folder)}`, file));
}

/** What is mutated at once. */
interface Job {
  readonly folder: string;
  readonly patterns: readonly string[];
  /** Whether these are all mutants of it. */
  readonly isWhole: boolean;
}

async function mutate({ folder, patterns, isWhole }: Job): Promise<Result[]> {
  process.chdir(resolve(ROOT, "packages", ownerOf(folder)));
  const results = await new Stryker({
    mutate: [...patterns],
    testRunner: "vitest",
    plugins: [
      import.meta.resolve("@stryker-mutator/vitest-runner"),
      import.meta.resolve("./mutation/left-as-it-is.ts"),
      import.meta.resolve("./mutation/sample.ts"),
      import.meta.resolve("./mutation/survivors-at-once.ts"),
    ],
    ignorers: ["left-as-it-is"],
    // In this order: how far a run has come is counted in what was drawn.
    reporters: ["sample", "survivors-at-once"],
    vitest: {
      configFile: fileURLToPath(import.meta.resolve("./mutation/vitest.config.ts")),
      // In processes, which cost more, where tests that need another user or a umask skip themselves in threads.
      pool: ownerOf(folder) === "file" ? "forks" : "threads",
    },
    coverageAnalysis: "perTest",
    // What is made once, when a module loads, would cost all the tests for each mutant.
    ignoreStatic: true,
    // What is remembered of a part would be taken for all that there is.
    incremental: isWhole,
    // Of each folder its own, so that several run at once.
    incrementalFile: resolve(ROOT, "node_modules/.cache/mutate", `${folder.replaceAll("/", "-")}.json`),
    concurrency: Number(flags.concurrency),
    // A busy machine takes more than the five minutes that are the default.
    dryRunTimeoutMinutes: 30,
    timeoutMS: 4_000,
    timeoutFactor: 5,
    // The copy has no other packages around it to which the compiler's settings could refer, and is not compiled.
    tsconfigFile: "none",
    disableTypeChecks: false,
    warnings: false,
  }).runMutationTest();
  process.chdir(ROOT);
  return results;
}

function print(heading: string, mutants: readonly Mutant[]): void {
  if (mutants.length > 0) console.log(`\n${heading}`);
  for (const mutant of mutants) {
    const { code, becomes } = describeMutant(mutant);
    console.log(`${relative(ROOT, mutant.fileName)}:${mutant.location.start.line}\n  - ${code}\n  + ${becomes}`);
  }
}

/** Prints what came of one folder; whether it is good enough. */
function judge({ folder, isWhole }: Job, results: readonly Result[], named: NamedMutants): boolean {
  const noticed = results.filter(({ status }) => NOTICED.has(status));
  const unnoticed = results.filter(({ status }) => UNNOTICED.has(status));
  const equivalent = unnoticed.filter((mutant) => named.has(mutant));
  const survivors = unnoticed.filter((mutant) => !named.has(mutant));
  const score = (100 * noticed.length) / Math.max(1, noticed.length + unnoticed.length);
  print(`${folder}: no test notices these, and nobody has named them as equivalent`, survivors);
  print(
    `${folder}: named as equivalent, but noticed`,
    noticed.filter((mutant) => named.has(mutant)),
  );
  const strangers = isWhole ? named.strangers(results) : [];
  for (const stranger of strangers) console.error(stranger);
  const uncovered = survivors.filter(({ status }) => status === "NoCoverage").length;
  console.log(
    `\n${folder}: ${noticed.length} of ${noticed.length + unnoticed.length} mutants noticed, ${score.toFixed(1)} %; ` +
      `${equivalent.length} named as equivalent, ${survivors.length} survive, ${uncovered} of them where no test goes`,
  );
  if (flags.sample !== undefined) {
    const [least, most] = likelyScore(noticed.length, noticed.length + unnoticed.length);
    const total = drawnFrom.get(resolve(ROOT, "packages", folder)) ?? 0;
    console.log(
      `a sample of ${total} mutants, seed ${flags.seed}: of all, ${least.toFixed(0)} to ${most.toFixed(0)} % (95 %)`,
    );
  }
  const isEnough = score >= LEAST_NOTICED || results.length === 0 || (!isWhole && flags.sample === undefined);
  return survivors.length === 0 && strangers.length === 0 && isEnough;
}

// Each mutant loads the package anew: without what Node remembers of its sources that is half of the time that a mutant takes.
env["NODE_COMPILE_CACHE"] ??= resolve(ROOT, "node_modules/.cache/compiled");

let isGood = true;
const folders =
  positionals.length === 0 ? FOLDERS : positionals.filter((argument) => !LINES.test(argument)).map(folderOf);
if (flags.sample !== undefined) {
  const paths = folders.map((folder) => resolve(ROOT, "packages", folder));
  drawSamples({ size: Number(flags.sample), seed: flags.seed, folders: paths });
}
const jobs: readonly Job[] = [
  ...folders.map((folder) => ({ folder, patterns: patternsOf(folder), isWhole: flags.sample === undefined })),
  ...[...linesOf(positionals)].map(([folder, patterns]) => ({ folder, patterns, isWhole: false })),
];
for (const job of jobs) {
  if (job.patterns.length === 0) continue;
  const results = await mutate(job);
  isGood = judge(job, results, new NamedMutants(resolve(ROOT, "packages", ownerOf(job.folder)))) && isGood;
}
process.exitCode = isGood ? 0 : 1;
