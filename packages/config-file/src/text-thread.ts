import type { Worker } from "node:worker_threads";
import { type Clock } from "@bridge/ports";
import { orAborted, Serial, startThread, threadProgram } from "@bridge/ports/internal";
import type { Answer, Task } from "./thread-protocol.ts";

/** For one task, its thread's start included: many times what the largest file takes. */
const TIMEOUT_MS = 60_000;
/** Without a task it ends after half of this to all of it. */
const IDLE_MS = 20_000;
/** The heap, in MiB: the tree of the densest file has a few hundred bytes for each of its 4 MiB. */
const HEAP_MIB = 1_024;
/** No deeper stack than the main thread has, so that a document is too deep for both. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 64, stackSizeMb: 1 };

/** The thread has failed, which says nothing of the text. */
export class ThreadError extends Error {
  override readonly name = "ThreadError";

  constructor(why: string) {
    super(`the thread that reads and edits it has failed: ${why}`);
  }
}

interface Running {
  readonly worker: Worker;
  /** What the task that it works on comes to. */
  answer: PromiseWithResolvers<Answer>;
}

/**
 * The library for YAML reads and writes a text in one piece, for seconds if it is long: it does so in a thread, one
 * task after another. The thread starts with a task, ends when there was none for a while, and keeps no process alive
 * while it rests.
 */
export class TextThread implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #threadUrl: URL | undefined;
  readonly #turns = new Serial();
  #running: Running | undefined;
  #rest: Disposable | undefined;

  /**
   * `threadUrl`: the program of the thread. Default: the one of this package.
   * @throws ThreadError when the one that is given is no file: else only the first change of the configuration would
   * tell
   */
  constructor(clock: Clock, threadUrl?: URL) {
    if (threadUrl !== undefined) programAt(threadUrl);
    this.#clock = clock;
    this.#threadUrl = threadUrl;
  }

  /**
   * @throws ThreadError when it fails, needs too much memory or too long; the signal's reason when it aborts, which
   * ends the thread if it works on this task
   */
  do(task: Task, signal: AbortSignal): Promise<Answer> {
    return orAborted(
      this.#turns.run(() => this.#ask(task, signal)),
      signal,
    );
  }

  /** Ends the thread; the task that it works on fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#running?.answer.reject(new ThreadError("it was closed"));
    await this.#end();
  }

  async #ask(task: Task, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    this.#rest?.[Symbol.dispose]();
    const running = (this.#running ??= this.#start());
    running.answer = Promise.withResolvers();
    const over = new AbortController();
    running.worker.ref();
    running.worker.postMessage(task, [task.bytes.buffer]);
    try {
      return await orAborted(Promise.race([running.answer.promise, this.#late(over.signal)]), signal);
    } catch (error) {
      if (running === this.#running) await this.#end();
      throw error;
    } finally {
      over.abort();
      running.worker.unref();
      if (running === this.#running) this.#rest = this.#clock.every(IDLE_MS, () => void this.#end());
    }
  }

  async #late(signal: AbortSignal): Promise<never> {
    await this.#clock.delay(TIMEOUT_MS, signal);
    throw new ThreadError(`it was not done within ${TIMEOUT_MS / 1_000} s`);
  }

  #start(): Running {
    const worker = newWorker(programAt(this.#threadUrl));
    const running: Running = { worker, answer: Promise.withResolvers() };
    const ended = (error: Error): void => {
      running.answer.reject(error);
      if (running === this.#running) void this.#end();
    };
    worker.on("message", (answer: Answer) => running.answer.resolve(answer));
    worker.on("error", (error) => ended(new ThreadError(isOutOfMemory(error) ? TOO_LARGE : messageOf(error))));
    worker.on("exit", () => ended(new ThreadError("it exited")));
    // Without a task nobody waits for it.
    running.answer.promise.catch(() => {});
    return running;
  }

  async #end(): Promise<void> {
    this.#rest?.[Symbol.dispose]();
    const running = this.#running;
    this.#running = undefined;
    await running?.worker.terminate();
  }
}

const TOO_LARGE = `it needed more than ${HEAP_MIB} MiB`;

/** @throws ThreadError when the process can have no more threads */
function newWorker(program: URL): Worker {
  try {
    return startThread(program, { env: {}, execArgv: [], resourceLimits: RESOURCE_LIMITS });
  } catch (error) {
    throw new ThreadError(messageOf(error));
  }
}

/** @throws ThreadError when it is not there */
function programAt(threadUrl: URL | undefined): URL {
  try {
    return threadProgram({
      entry: "@bridge/config-file/thread",
      file: "yaml-thread",
      from: import.meta.url,
      threadUrl,
    });
  } catch (error) {
    throw new ThreadError(messageOf(error));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "it said nothing";
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
