import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

/** The result of the search for a bug. */
export interface Hunt {
  /** How many seeds were run, including the one that found it. */
  readonly seeds: number;
  /** What that seed violated; absent if none did. */
  readonly violation?: string;
}

export interface HuntOptions {
  /** The folder of the sources with the bug. */
  readonly folder: string;
  readonly seeds: number;
  readonly from: number;
  /** A folder for the scenario. */
  readonly save?: string | undefined;
}

/** Runs seeds until one has a violation. */
export async function hunt({ folder, seeds, from, save }: HuntOptions): Promise<Hunt> {
  const main = join(folder, "packages/simulation/src/main.ts");
  const args = ["--first", "--seeds", `${seeds}`, "--from", `${from}`, ...(save === undefined ? [] : ["--save", save])];
  const child = spawn(process.execPath, ["--conditions=@bridge/source", main, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  let run = 0;
  let violation: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith("seed ")) run++;
    violation ??= /^ {2}! (.*)$/.exec(line)?.[1];
  }
  const code = await ended;
  if (violation !== undefined) return { seeds: run, violation };
  // It would have told; a bug that ends the whole process is found as well.
  return code === 0 ? { seeds: run } : { seeds: run + 1, violation: `the simulation ended with ${code}` };
}
