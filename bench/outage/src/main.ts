/** Takes the target of a route away for minutes under load: memory has to stay flat, and nothing may be lost. @module */
import { rm } from "node:fs/promises";
import { machine } from "../../src/harness/machine.ts";
import { runProgram, writeFigures } from "../../src/harness/run-program.ts";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { outage, WARM_UP_S } from "./outage.ts";
import { problemsOf, report, type Result } from "./result.ts";
import { openScene } from "./scene.ts";

await runProgram({ name: "outage", usage: USAGE, parseFlags, run });

async function run(flags: Flags, signal: AbortSignal): Promise<"proved" | "disproved"> {
  const messages = flags.rate * (flags.minutes * 60 + WARM_UP_S);
  const on = await machine();
  const result = await lived(flags, messages, signal);
  const problems = problemsOf(result);
  console.log(report(result, problems));
  if (flags.out !== undefined) await writeFigures(flags.out, { machine: on, ...result, problems });
  if (problems.length > 0) {
    console.log(`\nLog and stores: ${result.folder}`);
    return "disproved";
  }
  await rm(result.folder, { recursive: true, force: true });
  return "proved";
}

async function lived(flags: Flags, messages: number, signal: AbortSignal): Promise<Result> {
  await using scene = await openScene(flags, messages);
  return await outage(scene, flags, messages, (line) => console.error(line), signal);
}
