import type { Worker } from "node:worker_threads";
import { BridgeError, type Clock, type Envelope, type Logger } from "@bridge/ports";
import { orAborted, startThread } from "@bridge/ports/internal";
import type { Changes } from "./changes.ts";
import { type Answer, AT, type Job, type ThreadData, type ThreadTask } from "./thread-protocol.ts";

/** Loading and compiling; longer only on a machine that is out of breath. */
const START_TIMEOUT_MS = 30_000;
/** The heap of a thread, in MiB: many times what the largest message needs. */
const HEAP_MIB = 256;
/** The thread's stack is large enough for the deepest payload that its own bounds let through. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };
/** Ids are told through a cell of 32 bits. */
const MAX_ID = 2 ** 31 - 1;

export interface IsolatedThreadOptions {
  readonly task: ThreadTask;
  /** What the thread runs: `processor-thread.ts`, built or not. */
  readonly program: URL;
  /** For one message, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A message that waits for its answer. */
interface Waiting {
  readonly id: number;
  readonly envelope: Envelope;
  readonly answered: PromiseWithResolvers<Changes>;
  /** Nobody waits any more. */
  abandoned: boolean;
}

/** A thread that runs, and since when it does what it does, as far as we have seen. */
interface Running {
  readonly worker: Worker;
  readonly progress: Int32Array;
  seen: { readonly at: number; readonly since: number };
  error: unknown;
}

/**
 * Works on messages in a thread of its own, one after another, so that neither a hostile payload nor a bad expression
 * can hold up the bridge. A thread that works on one message for too long, or needs too much memory, is ended: that
 * message fails, and all others are worked on by a new thread. Starts with the first message.
 */
export class IsolatedThread implements AsyncDisposable {
  readonly #options: IsolatedThreadOptions;
  /** Not told to the thread yet. */
  #fresh: Waiting[] = [];
  /** Told to the thread, by id, in the order of telling. */
  #told = new Map<number, Waiting>();
  #running: Running | undefined;
  readonly #ending = new Set<Promise<unknown>>();
  #watch: Disposable | undefined;
  #nextId = 0;
  #disposed = false;

  constructor(options: IsolatedThreadOptions) {
    this.#options = options;
  }

  /** @throws BridgeError for a message that was refused; the signal's reason when it aborts */
  async run(envelope: Envelope, signal: AbortSignal): Promise<Changes> {
    if (this.#disposed) throw stopped();
    const waiting: Waiting = { id: this.#nextId, envelope, answered: Promise.withResolvers(), abandoned: false };
    this.#nextId = this.#nextId === MAX_ID ? 0 : this.#nextId + 1;
    if (this.#fresh.push(waiting) === 1) this.#options.clock.turn(() => this.#tell());
    try {
      return await orAborted(waiting.answered.promise, signal);
    } finally {
      waiting.abandoned = true;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    for (const waiting of [...this.#told.values(), ...this.#fresh]) waiting.answered.reject(stopped());
    this.#told.clear();
    this.#fresh = [];
    this.#end();
    await Promise.all(this.#ending);
  }

  /** Tells the thread everything that came in during this turn of the event loop. */
  #tell(): void {
    const wanted = this.#fresh.filter((waiting) => !waiting.abandoned);
    this.#fresh = [];
    if (wanted.length === 0) return;
    const { clock, timeoutMs } = this.#options;
    for (const waiting of wanted) this.#told.set(waiting.id, waiting);
    try {
      this.#running ??= this.#start();
    } catch (error) {
      // Nobody is there to catch it: we are called by the event loop.
      this.#giveUp(new BridgeError("UNAVAILABLE", `its thread cannot be started: ${messageOf(error)}`));
      return;
    }
    this.#watch ??= clock.every(Math.max(10, timeoutMs / 4), () => this.#look());
    const jobs = wanted.map(({ id, envelope }): Job => ({ id, envelope: copyOf(envelope) }));
    this.#running.worker.ref();
    this.#running.worker.postMessage(
      jobs,
      jobs.map(({ envelope }) => envelope.payload.buffer as ArrayBuffer),
    );
  }

  #start(): Running {
    const { task, program, clock } = this.#options;
    const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(AT.start);
    const worker = startThread(program, {
      workerData: { task, progress } satisfies ThreadData,
      env: {},
      execArgv: [],
      resourceLimits: RESOURCE_LIMITS,
    });
    const running: Running = { worker, progress, seen: { at: AT.start, since: clock.monotonic() }, error: undefined };
    worker.on("message", (answers: readonly Answer[]) => this.#take(running, answers));
    worker.on("error", (error) => (running.error = error));
    worker.on("exit", () => this.#exited(running));
    return running;
  }

  #take(from: Running, answers: readonly Answer[]): void {
    if (from !== this.#running) return;
    for (const answer of answers) {
      const waiting = this.#told.get(answer.id);
      this.#told.delete(answer.id);
      if ("changes" in answer) waiting?.answered.resolve(answer.changes);
      else waiting?.answered.reject(new BridgeError(answer.refusal.code, answer.refusal.message));
    }
    if (this.#told.size > 0) return;
    this.#stopWatching();
    // A thread that rests is no reason for the process to go on.
    from.worker.unref();
  }

  /** Ends the thread when it has worked on the same message, or been starting, for too long. */
  #look(): void {
    const running = this.#running;
    if (running === undefined) return;
    const { clock, timeoutMs } = this.#options;
    const at = Atomics.load(running.progress, 0);
    const now = clock.monotonic();
    if (at !== running.seen.at) running.seen = { at, since: now };
    const forMs = now - running.seen.since;
    if (at >= 0 && forMs >= timeoutMs) {
      this.#replace(at, new BridgeError("TIMEOUT", `was not done with the message within ${timeoutMs} ms`));
    } else if (at === AT.start && forMs >= START_TIMEOUT_MS) {
      this.#giveUp(new BridgeError("UNAVAILABLE", `its thread did not start within ${START_TIMEOUT_MS} ms`));
    }
  }

  /** A thread ends by itself only when something goes wrong in it. */
  #exited(running: Running): void {
    if (running !== this.#running) return;
    const at = Atomics.load(running.progress, 0);
    const cause = running.error === undefined ? "it exited" : messageOf(running.error);
    if (at < 0) this.#giveUp(new BridgeError("UNAVAILABLE", `its thread failed: ${cause}`));
    else if (isOutOfMemory(running.error)) {
      this.#replace(at, new BridgeError("PAYLOAD_TOO_LARGE", `needed more than ${HEAP_MIB} MiB for the message`));
    } else this.#replace(at, new BridgeError("INTERNAL", `its thread failed on the message: ${cause}`));
  }

  /** Fails one message, and has the others worked on again: what was done for them has had no effect. */
  #replace(failed: number, error: BridgeError): void {
    this.#options.logger.warn("processor thread replaced", { code: error.code, error: error.message });
    this.#told.get(failed)?.answered.reject(error);
    this.#told.delete(failed);
    const again = [...this.#told.values()];
    this.#told.clear();
    this.#end();
    this.#fresh = [...again, ...this.#fresh];
    this.#tell();
  }

  /** Fails every message that the thread was told. */
  #giveUp(error: BridgeError): void {
    this.#options.logger.error("processor thread failed", { code: error.code, error: error.message });
    const failed = [...this.#told.values()];
    this.#told.clear();
    this.#end();
    for (const { answered } of failed) answered.reject(error);
  }

  #end(): void {
    this.#stopWatching();
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    const ending = running.worker.terminate().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #stopWatching(): void {
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
  }
}

/** What is given to the thread is gone on this side, and may be nothing but data. */
function copyOf(envelope: Envelope): Envelope {
  const { id, sourceId, subject, contentType, headers, payload, correlationId, receivedAt } = envelope;
  const copy = new Uint8Array(payload);
  return { id, sourceId, subject, contentType, headers, payload: copy, correlationId, receivedAt };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "it said nothing";
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

function stopped(): BridgeError {
  return new BridgeError("UNAVAILABLE", "the processor has been stopped");
}
