// Imported rather than global, so that a test may replace the global one by a fake.
import { setImmediate } from "node:timers";
import { fdatasync } from "node:fs";
import { promisify } from "node:util";
import { BridgeError } from "@bridge/ports";
import { FileFault } from "./file-fault.ts";
import { faultAt } from "./obstacle.ts";
import type { OpenedFile } from "./open-or-create.ts";
import { type Job, type JobOutcome, runFreeing, runTogether } from "./transaction.ts";

const MAX_JOBS = 1_000;
/** What is written in one go keeps the event loop for some milliseconds. */
const MAX_GROUP_BYTES = 2 * 1024 * 1024;
/** So much waits only while the disk hangs: further writes are refused then. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** What a waiting job takes besides its data. */
const JOB_BYTES = 512;

/** Makes what was written to an open file durable. */
export type DiskSync = (file: number) => Promise<void>;

/** On a thread of the pool, so that a slow disk does not stop the event loop. */
export const diskSync: DiskSync = promisify(fdatasync);

/** The file that groups are written to. */
export interface CommitTarget<Statements> {
  readonly path: string;
  /** Throws a {@link BridgeError} while the file cannot be used. */
  open(): OpenedFile<Statements>;
  /** False when the file has failed since it was opened. */
  isOpen(file: OpenedFile<Statements>): boolean;
  /** Why jobs that do not make room have to be refused at the moment. */
  refusal(): BridgeError | undefined;
  /**
   * Why what was just made durable will be gone with this process, so that it counts only where it makes room. A
   * {@link FileFault} when the file has to be opened again.
   */
  displacement(file: OpenedFile<Statements>): BridgeError | undefined;
  /** Writes a group: how long that takes is the caller's to know. */
  measured<Result>(write: () => Result): Result;
  /** A group is durable. */
  committed(file: OpenedFile<Statements>): void;
  /** The disk had no room for a group, or for a part of it. */
  full(): void;
  /** The file is at fault: what was written last may last or not. */
  failed(fault: FileFault): void;
}

interface Waiting<Statements> {
  readonly job: Job<Statements, unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Writes jobs in groups: what comes in while one group is written and synced goes into the next. A job is done when
 * its own group has been synced, not before.
 */
export class GroupCommit<Statements> {
  readonly #target: CommitTarget<Statements>;
  readonly #sync: DiskSync;
  readonly #waiting: Waiting<Statements>[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  #committing: Promise<void> | undefined;
  #pause: Promise<void> | undefined;
  #fault: BridgeError | undefined;
  #writable = true;

  constructor(target: CommitTarget<Statements>, sync: DiskSync) {
    this.#target = target;
    this.#sync = sync;
  }

  /** False from a group that could not be written to the next one that can. */
  get writable(): boolean {
    return this.#writable;
  }

  /** Why the disk refused a job: until one is written, of a full disk one that needs room; `undefined` else. */
  get fault(): BridgeError | undefined {
    return this.#fault;
  }

  /** Resolves when the job is durable. Rejects with a {@link BridgeError} when it was not done, or may not last. */
  write<Result>(job: Job<Statements, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waitingBytes >= MAX_WAITING_BYTES) {
        const message = `${this.#target.path}: the disk does not keep up: check it, or send less`;
        reject(new BridgeError("UNAVAILABLE", message, { charged: false }));
        return;
      }
      this.#waiting.push({ job, resolve, reject });
      this.#waitingBytes += JOB_BYTES + job.bytes;
      this.#running ??= this.#run();
    });
  }

  /** Runs `work` between two groups. */
  async between(work: () => Promise<void>): Promise<void> {
    const pause = Promise.withResolvers<void>();
    this.#pause = pause.promise;
    await this.#committing;
    try {
      await work();
    } finally {
      this.#pause = undefined;
      pause.resolve();
    }
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Everything that this turn of the event loop brings goes into one group.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#pause !== undefined) await this.#pause;
      this.#committing = this.#commit(this.#nextGroup());
      await this.#committing;
    }
    this.#running = undefined;
  }

  #nextGroup(): readonly Waiting<Statements>[] {
    let bytes = 0;
    let size = 0;
    for (const { job } of this.#waiting) {
      if (size === MAX_JOBS || (size > 0 && bytes + job.bytes > MAX_GROUP_BYTES)) break;
      bytes += job.bytes;
      size++;
    }
    this.#waitingBytes -= bytes + size * JOB_BYTES;
    return this.#waiting.splice(0, size);
  }

  async #commit(group: readonly Waiting<Statements>[]): Promise<void> {
    const outcomes = await this.#write(group.map(({ job }) => job));
    for (const [index, { job, resolve, reject }] of group.entries()) {
      const outcome = outcomes instanceof Error ? outcomes : outcomes[index];
      if (outcome === undefined || outcome instanceof Error) reject(BridgeError.from(outcome));
      else if (!outcome.ok) reject(BridgeError.from(outcome.error));
      else {
        job.done?.(outcome.value);
        if (outcome.refusal === undefined) resolve(outcome.value as never);
        else reject(outcome.refusal);
      }
    }
  }

  /** What became of each job, or why none was done. */
  async #write(jobs: readonly Job<Statements, unknown>[]): Promise<readonly JobOutcome[] | BridgeError> {
    const outcomes = await this.#writeAndSync(jobs);
    if (isFull(outcomes instanceof Error ? outcomes : faultIn(outcomes))) this.#target.full();
    if (outcomes instanceof Error) this.#fault = outcomes;
    else {
      const wasFull = isFull(this.#fault);
      const written = outcomes.some((outcome, index) => {
        if (!outcome.ok || outcome.refusal !== undefined) return false;
        return jobs[index]?.looks !== true && !(wasFull && jobs[index]?.frees === true);
      });
      this.#fault = faultIn(outcomes) ?? (written ? undefined : this.#fault);
    }
    return outcomes;
  }

  async #writeAndSync(jobs: readonly Job<Statements, unknown>[]): Promise<readonly JobOutcome[] | BridgeError> {
    const { path } = this.#target;
    let file: OpenedFile<Statements>;
    let outcomes: readonly JobOutcome[];
    try {
      file = this.#target.open();
      const refusal = this.#target.refusal();
      if (refusal instanceof FileFault) this.#writable = false;
      outcomes = this.#target.measured(() =>
        refusal === undefined ? runTogether(file, jobs) : runFreeing(file, jobs, refusal),
      );
    } catch (thrown) {
      const fault = faultAt(path, thrown);
      this.#writable = false;
      // A full or locked file is sound: nothing has been written.
      if (fault !== undefined && fault.fault !== "full" && fault.fault !== "busy") this.#target.failed(fault);
      return fault ?? BridgeError.from(thrown);
    }
    if (!outcomes.some(({ ok }, index) => ok && jobs[index]?.looks !== true)) return outcomes;
    let displacement: BridgeError | undefined;
    try {
      await this.#sync(file.log);
      // A handle that was closed meanwhile says nothing about the file.
      if (!this.#target.isOpen(file)) throw new Error("the file failed while it was synced");
      displacement = this.#target.displacement(file);
      if (displacement instanceof FileFault) throw displacement;
    } catch (thrown) {
      const fault = faultAt(path, thrown) ?? new FileFault(path, "failing", { cause: thrown });
      this.#writable = false;
      this.#target.failed(fault);
      return fault;
    }
    this.#writable = true;
    this.#target.committed(file);
    if (displacement === undefined) return outcomes;
    const refusal = displacement;
    return outcomes.map((outcome, index) =>
      outcome.ok && jobs[index]?.frees !== true ? { ...outcome, refusal } : outcome,
    );
  }
}

/** Whether a job had no room on the disk. */
export function isFull(fault: BridgeError | undefined): boolean {
  return fault instanceof FileFault && fault.fault === "full";
}

/** Why the disk had no room for some of the jobs. */
function faultIn(outcomes: readonly JobOutcome[]): FileFault | undefined {
  return outcomes.flatMap((outcome) => (!outcome.ok && outcome.error instanceof FileFault ? [outcome.error] : []))[0];
}
