/** Programs that a test starts, listens to and kills. They are TypeScript files of the workspace. @module */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { env } from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** For `describe.skipIf`: whether no faults of system calls can be made. */
export const noSystemFaults: boolean =
  env["BRIDGE_REQUIRE_BROKERS"] !== "1" && spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status !== 0;

export interface ProgramOptions {
  readonly program: URL;
  readonly args?: readonly string[];
  /** Which system calls fail, and how, as strace writes it: `fdatasync:error=EIO:when=3+`. */
  readonly fault?: string;
  /** Where strace writes down each call that changes a file, with what is written. */
  readonly trace?: string;
}

const CHANGES = "trace=openat,pwrite64,write,ftruncate,fsync,fdatasync,rename,unlink";

export interface Ended {
  readonly lines: readonly string[];
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs a program to its end, or kills it when it has written so many lines. */
export async function runProgram(options: ProgramOptions, killAfterLines = Infinity): Promise<Ended> {
  const child = start(options);
  const ended = once(child, "close");
  const lines: string[] = [];
  let stderr = "";
  child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
  if (child.stdout !== null) {
    for await (const line of createInterface({ input: child.stdout })) {
      // What comes after that was written before the process was gone, and counts.
      if (lines.push(line) === killAfterLines) child.kill("SIGKILL");
    }
  }
  await ended;
  return { lines, stderr, code: child.exitCode };
}

function start({ program, args = [], fault, trace }: ProgramOptions): ChildProcess {
  const node = [process.execPath, "--conditions=@bridge/source", fileURLToPath(program), ...args];
  const [call = ""] = fault?.split(":") ?? [];
  const traced =
    trace === undefined
      ? ["-o", "/dev/null", "-e", `trace=${call}`]
      : // One thread of the pool, because calls are counted for each.
        ["-o", trace, "-e", CHANGES, "-y", "-xx", "-s", "1000000", "-E", "UV_THREADPOOL_SIZE=1"];
  const strace = ["strace", "-f", "-qq", ...traced, ...(fault === undefined ? [] : ["-e", `inject=${fault}`])];
  const [command = "", ...rest] = fault === undefined && trace === undefined ? node : [...strace, ...node];
  return spawn(command, rest, { stdio: ["ignore", "pipe", "pipe"] });
}
