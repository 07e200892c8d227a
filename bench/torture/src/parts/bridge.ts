import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { type ClockOffset, OFFSET_VARIABLE } from "../bridge/offset.ts";
import type { Guard } from "./guard.ts";
import { type Ending, PartProcess } from "./part-process.ts";

const CLOCK = new URL("../bridge/shifted-clock.ts", import.meta.url).href;
/** Then the log is put aside, in the place of the one before it. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
const LAST_WORDS_BYTES = 1_000;

export interface BridgeOptions {
  /** The built binary, or a program in TypeScript, which takes the packages as they are in this checkout. */
  readonly program: string;
  readonly configuration: string;
  readonly log: string;
  readonly guard: Guard;
  /** The old space of its heap, in MiB. Default: what Node takes, which is gigabytes on a large machine. */
  readonly heapMib?: number;
  /** Variables of its environment besides those of the harness. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The bridge under torture, one process after another. */
export class Bridge implements AsyncDisposable {
  readonly #options: BridgeOptions;
  #child: ChildProcess | undefined;
  #process: PartProcess | undefined;
  #offset: ClockOffset = 0;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Starts a process; resolves with how it ended. */
  start(): Promise<Ending> {
    const { program, configuration, log, guard, heapMib, environment } = this.#options;
    const output = openLog(log);
    const heap = heapMib === undefined ? [] : [`--max-old-space-size=${heapMib}`];
    const sources = program.endsWith(".ts") ? ["--conditions=@bridge/source"] : [];
    const child = spawn(process.execPath, [...heap, ...sources, "--import", CLOCK, program, "-config", configuration], {
      env: { ...environment, [OFFSET_VARIABLE]: String(this.#offset) },
      stdio: ["ignore", output, output, "ipc"],
    });
    closeSync(output);
    this.#child = child;
    this.#process = new PartProcess("the bridge", child, guard);
    return this.#process.ended;
  }

  /** Of the process that was started last. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get running(): boolean {
    return this.#process?.running === true;
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Asks it to end, and does not wait for it. */
  ask(): void {
    this.#process?.signal("SIGTERM");
  }

  /** Asks it to end, and tells how it did. */
  stop(withinMs: number): Promise<Ending> {
    if (this.#process === undefined) throw new Error("the bridge was never started");
    return this.#process.terminate(withinMs);
  }

  /** The end of its log. */
  async lastWords(): Promise<string> {
    await using file = await open(this.#options.log);
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, LAST_WORDS_BYTES));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString();
  }

  pause(): void {
    this.#process?.signal("SIGSTOP");
  }

  resume(): void {
    this.#process?.signal("SIGCONT");
  }

  /** Sets its wall clock, and that of every process to come, so far ahead of the machine's. */
  setClock(offset: ClockOffset): void {
    this.#offset = offset;
    if (this.#child?.connected === true) this.#child.send(offset, () => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, "a");
}
