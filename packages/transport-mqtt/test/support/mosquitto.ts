import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { accepts } from "./accepts.ts";

/** Below the ports that systems hand out by themselves, so that nobody takes it while the broker restarts. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const START_TIMEOUT_MS = 15_000;
const POLL_MS = 10;

/** A Mosquitto of one test's own, that drops nothing by its defaults. */
export interface Mosquitto extends AsyncDisposable {
  readonly port: number;
  readonly dir: string;
  /** Ends it as a service manager does, so that it saves what it holds. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops the process in its tracks; its sockets stay open. */
  freeze(): void;
  thaw(): void;
}

export interface MosquittoOptions {
  /** More lines of its configuration; `DIR` stands for its folder. */
  readonly config?: readonly string[];
  /** Files in its folder, by name. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** Whether clients without a name may come in. Default `true`. */
  readonly anonymous?: boolean;
  /** What follows the listener line, such as its certificates. */
  readonly listener?: readonly string[];
}

export async function mosquitto(options: MosquittoOptions = {}): Promise<Mosquitto> {
  const dir = await mkdtemp(join(tmpdir(), "bridge-mosquitto-"));
  for (const [name, content] of Object.entries(options.files ?? {})) await writeFile(join(dir, name), content);
  const place = (line: string): string => line.replaceAll("DIR", dir);
  let running: ChildProcess | undefined;
  let port = 0;

  async function start(): Promise<void> {
    const file = join(dir, "mosquitto.conf");
    await writeFile(
      file,
      [
        "user root",
        `listener ${port} 127.0.0.1`,
        ...(options.listener ?? []).map(place),
        `allow_anonymous ${options.anonymous ?? true}`,
        "persistence true",
        `persistence_location ${dir}/`,
        "max_queued_messages 0",
        "set_tcp_nodelay true",
        ...(options.config ?? []).map(place),
        "",
      ].join("\n"),
    );
    running = spawn("mosquitto", ["-c", file], { stdio: "ignore" });
    await once(running, "spawn");
    await listening(port, running);
  }

  async function stop(): Promise<void> {
    if (running === undefined) return;
    running.kill("SIGCONT");
    running.kill("SIGTERM");
    if (running.exitCode === null && running.signalCode === null) await once(running, "exit");
    running = undefined;
  }

  for (let attempt = 1; ; attempt++) {
    port = randomInt(PORTS.from, PORTS.to);
    try {
      await start();
      break;
    } catch (error) {
      await stop();
      if (attempt === 5) throw error;
    }
  }
  return {
    port,
    dir,
    start,
    stop,
    freeze: () => running?.kill("SIGSTOP"),
    thaw: () => running?.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function listening(port: number, process: ChildProcess): Promise<void> {
  const until = Date.now() + START_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (process.exitCode !== null) throw new Error(`mosquitto ended with code ${process.exitCode}`);
    if (Date.now() > until) throw new Error("mosquitto does not listen");
    await delay(POLL_MS);
  }
  // Another process may have had the port, in which case Mosquitto is about to end.
  await delay(POLL_MS);
  if (process.exitCode !== null) throw new Error(`mosquitto ended with code ${process.exitCode}`);
}
