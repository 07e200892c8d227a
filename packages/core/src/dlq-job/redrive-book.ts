import type { DeadLetterHead } from "@bridge/ports";
import { fingerprintOf } from "@bridge/ports/internal";
import type { ReplayFailure } from "../dlq/failed-replay.ts";
import { withFailure } from "./error-groups.ts";
import { HaltWatch } from "./halt.ts";
import type { JobRun } from "./job-run.ts";
import type { Lane } from "./lane.ts";

/** What is known of an entry that has failed. */
export type FailedEntry = Pick<DeadLetterHead, "id" | "routeId" | "bindingId">;

/** Counts what becomes of the entries of a redrive, and halts it when too many of them fail. */
export class RedriveBook {
  readonly #run: JobRun;
  readonly #watch = new HaltWatch();

  constructor(run: JobRun) {
    this.#run = run;
  }

  count(outcome: "succeeded" | "failed" | "skipped", lane: Lane | undefined): void {
    const { job } = this.#run;
    if (lane !== undefined) lane.done++;
    if (lane !== undefined && outcome === "failed") lane.failed++;
    this.#run.job = { ...job, counts: { ...job.counts, [outcome]: job.counts[outcome] + 1 } };
    this.#run.tally(outcome, 1);
  }

  countFailure(lane: Lane | undefined, entry: FailedEntry, failure: ReplayFailure): void {
    this.count("failed", lane);
    const { job } = this.#run;
    this.#run.job = { ...job, errors: withFailure(job.errors, groupOf(entry, failure)) };
  }

  doubt(count: number): void {
    const { job } = this.#run;
    this.#run.job = { ...job, counts: { ...job.counts, inDoubt: job.counts.inDoubt + count } };
    this.#run.tally("in_doubt", count);
  }

  /** An attempt has ended: it counts for the step and for halting. */
  attempted(hasFailed: boolean, error?: string): void {
    const { job } = this.#run;
    const failed = job.step.failed + (hasFailed ? 1 : 0);
    this.#run.job = { ...job, step: { ...job.step, done: job.step.done + 1, failed } };
    const verdict = this.#watch.after(hasFailed, job.settings.halt);
    if (verdict !== undefined) this.#run.halt(verdict, error);
  }
}

function groupOf(
  { id, routeId, bindingId }: FailedEntry,
  { code, error }: ReplayFailure,
): Parameters<typeof withFailure>[1] {
  return { id, code, error, fingerprint: fingerprintOf({ routeId, bindingId, errorCode: code, lastError: error }) };
}
