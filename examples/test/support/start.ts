import process from "node:process";
import { EXAMPLES, Program } from "./program.ts";

/** In this repository packages are taken from their sources; where they were installed, as they are. */
const CONDITIONS = process.execArgv.filter((argument) => argument.startsWith("--conditions="));

/** Starts a program of the examples, `FOLDER/FILE`, with more in its environment. */
export function start(path: string, env: Readonly<Record<string, string>>): Program {
  const [first, ...rest] = [...CONDITIONS, EXAMPLES + path];
  return new Program(first, rest, { ...process.env, ...env } as Record<string, string>);
}
