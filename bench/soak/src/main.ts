/** Everything at once, for an hour or so: traffic, hostile messages, troubles, reloads, bad clients. Then the account. @module */
import { rm } from "node:fs/promises";
import { machine } from "../../src/harness/machine.ts";
import { runProgram, writeFigures } from "../../src/harness/run-program.ts";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { report } from "./report/print.ts";
import { problemsOf, type Result } from "./report/result.ts";
import { openScene } from "./scene.ts";
import { soak } from "./soak.ts";

await runProgram({ name: "soak", usage: USAGE, parseFlags, run });

async function run(flags: Flags, signal: AbortSignal): Promise<"proved" | "disproved"> {
  const { minutes, rate, seed } = flags;
  console.log(`Seed ${seed}: pnpm soak --minutes ${minutes} --rate ${rate} --seed ${seed}`);
  const on = await machine();
  const result = await soaked(flags, signal);
  const problems = problemsOf(result);
  console.log(report(result, problems));
  await writeFigures(flags.out, { machine: on, problems, ...result, flags: { minutes, rate, seed } });
  if (problems.length === 0 && !flags.keep) await rm(result.folder, { recursive: true, force: true });
  else console.log(`\nLogs: ${result.folder}`);
  return problems.length === 0 ? "proved" : "disproved";
}

async function soaked(flags: Flags, signal: AbortSignal): Promise<Result> {
  await using scene = await openScene(flags);
  console.log(`Logs and stores: ${scene.folder}`);
  return await soak(scene, flags, (line) => console.error(line), signal);
}
