import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, listening } from "@bridge/tooling/listening";

const PROGRAM = "nats-server";
const START_TIMEOUT_MS = 10_000;

/** A server of a test's own, which it may break. Its data is where it was after a restart. */
export interface OwnServer extends AsyncDisposable {
  readonly port: number;
  /** Freezes it: its connections stay open, and nothing is read or said. */
  freeze(): void;
  thaw(): void;
  /** Ends it with a signal; resolves when it is gone. */
  kill(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Reads its configuration again. */
  reload(): void;
  /** The lines of its configuration from its next start or {@link reload} on. */
  configure(lines: readonly string[]): Promise<void>;
  /** Does nothing when it runs. */
  start(): Promise<void>;
}

/** Starts one on an address of this machine, with these lines in its configuration. */
export async function ownServer(lines: readonly string[] = [], host = "127.0.0.1"): Promise<OwnServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "bridge-nats-"));
  const file = join(folder, "nats.conf");
  const own = [`listen: ${host}:${port}`, `jetstream { store_dir: ${JSON.stringify(join(folder, "data"))} }`];
  const configure = (more: readonly string[]): Promise<void> =>
    writeFile(file, [...own, ...more].map((line) => `${line}\n`).join(""));
  await configure(lines);
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    if (child !== undefined) return;
    child = spawn(PROGRAM, ["-c", file], { stdio: "ignore" });
    await listening(port, START_TIMEOUT_MS);
  };
  const kill = async (signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> => {
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill(signal);
    await ended;
    child = undefined;
  };
  await start();
  return {
    port,
    freeze() {
      child?.kill("SIGSTOP");
      untilStopped(child?.pid);
    },
    thaw: () => void child?.kill("SIGCONT"),
    reload: () => void child?.kill("SIGHUP"),
    kill,
    configure,
    start,
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A signal is on its way for a while, in which the server would still answer. */
function untilStopped(pid: number | undefined): void {
  const status = `/proc/${pid}/stat`;
  const end = performance.now() + 5_000;
  while (existsSync(status) && !/\) [Tt] /.test(readFileSync(status, "latin1")) && performance.now() < end) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
