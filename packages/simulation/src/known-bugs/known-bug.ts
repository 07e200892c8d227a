import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const FOLDER = new URL("../../known-bugs/", import.meta.url);
const run = promisify(execFile);

/** A defect that the engine had, or could have. */
export interface KnownBug {
  readonly name: string;
  /** What goes wrong, in one sentence. */
  readonly what: string;
  /** Why no seed finds it, if known. */
  readonly lacks: string | undefined;
  /** The name of a scenario in `scenarios/` that finds it. */
  readonly scenario: string | undefined;
  readonly file: string;
}

/** In the order of their names. */
export async function knownBugs(): Promise<readonly KnownBug[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".patch")).toSorted();
  return Promise.all(files.map((file) => read(new URL(file, FOLDER))));
}

async function read(url: URL): Promise<KnownBug> {
  const file = fileURLToPath(url);
  const [what = "", ...rest] = (await readFile(file, "utf8")).split("\n");
  const told = (word: string) => rest.find((line) => line.startsWith(word))?.slice(word.length);
  const name = file.replace(/^.*[/\\]|\.patch$/g, "");
  return { name, what, lacks: told("Missed: "), scenario: told("Scenario: "), file };
}

/**
 * Puts the bug back into the sources below `folder`.
 * @throws Error when they no longer match the patch
 */
export async function putBack({ file }: KnownBug, folder: string): Promise<void> {
  await apply(folder, file);
}

/** Takes the bug out again. */
export async function takeOut({ file }: KnownBug, folder: string): Promise<void> {
  await apply(folder, "--reverse", file);
}

async function apply(folder: string, ...args: readonly string[]): Promise<void> {
  // Inside a repository, git would skip files that it does not track.
  await run("git", ["apply", ...args], { cwd: folder, env: { ...env, GIT_CEILING_DIRECTORIES: folder } });
}
