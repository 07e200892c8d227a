import { isOver, type Job } from "./job.ts";
import type { KeptJob } from "./job-book.ts";
import type { JobRun } from "./job-run.ts";

interface Run {
  readonly run: JobRun;
  readonly ended: Promise<void>;
}

/** The jobs that are worked on here, and what is known of them before their store knows it. */
export class JobsHere {
  readonly #runs = new Map<string, Run>();
  readonly #holder: string;

  constructor(holder: string) {
    this.#holder = holder;
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  add(id: string, run: Run): void {
    this.#runs.set(id, run);
  }

  remove(id: string): void {
    this.#runs.delete(id);
  }

  /** Resolves when every one is out of hand. */
  async ended(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended));
  }

  /** Somebody asks something of this one. */
  look(id: string): void {
    void this.#runs.get(id)?.run.look();
  }

  /** Who works on it here. */
  runOf(id: string): JobRun | undefined {
    const run = this.#runs.get(id)?.run;
    return run?.isHeld === true ? run : undefined;
  }

  /** Who works on it here, and hears what is asked: what another instance may work on by now would not. */
  heardBy(id: string): JobRun | undefined {
    const run = this.runOf(id);
    return run?.hold.mayBeAnothers === true ? undefined : run;
  }

  /** Who works on it here, when its store does not know yet what was asked before: that would come after what is asked now. */
  askedBefore(id: string): JobRun | undefined {
    const run = this.heardBy(id);
    return run?.hold.isAsked === true && !isOver(run.job.state) ? run : undefined;
  }

  /** As it stands here, as long as its store does not take that; else as `kept`. */
  known(kept: KeptJob): Job {
    const { job } = kept;
    this.#runs.get(job.id)?.run.hold.heard(kept);
    const here = this.runOf(job.id);
    if (here === undefined || here.hold.isStored || job.owner?.holder !== this.#holder) return job;
    const { settings, requested } = job;
    return { ...here.unstored, ...(!here.hold.isAsked && { settings, requested }) };
  }
}
