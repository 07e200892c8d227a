import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PROGRAM = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
}

/** Runs the torture from its command line to its exit code. */
export function runTorture(...flags: readonly string[]): Promise<Ran> {
  return promisify(execFile)(process.execPath, ["--conditions=@bridge/source", PROGRAM, ...flags]).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: Ran) => ({ code, stdout }),
  );
}
