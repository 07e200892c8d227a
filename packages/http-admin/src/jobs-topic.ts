import type { Job, Supervisor } from "@bridge/core";
import type { Clock } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import * as v from "valibot";
import { jobSummary } from "./job-schemas.ts";
import { jobSummaryToWire } from "./job-wire.ts";

/** One that is younger is good for whoever asks. */
const FRESH_MS = 900;
const LOOK_TIMEOUT_MS = 5_000;
/** More are never active, but for those that are planned at the same time. */
const MOST = 64;

export const jobsEvent = v.object({
  jobs: v.pipe(
    v.array(jobSummary),
    v.description("Those that are not over; once more those that were not, as they have ended."),
  ),
});

type JobsEvent = v.InferOutput<typeof jobsEvent>;

/** Looks at the jobs that are not over for all who ask, once a second at most; while nobody asks it does nothing. */
export class JobsSource {
  readonly #supervisor: () => Supervisor;
  readonly #clock: Clock;
  #kept: { readonly jobs: readonly Job[]; readonly at: number } | undefined;
  #looking: Promise<readonly Job[] | undefined> | undefined;

  constructor(supervisor: () => Supervisor, clock: Clock) {
    this.#supervisor = supervisor;
    this.#clock = clock;
  }

  /** For one connection: what it has not been told yet, asked for each second. */
  topic(): (signal: AbortSignal) => Promise<JobsEvent | undefined> {
    let told = "";
    let before: readonly Job[] = [];
    return async (signal) => {
      const jobs = await this.#look();
      if (jobs === undefined) return undefined;
      const active = new Set(jobs.map(({ id }) => id));
      const ended = await Promise.all(
        before.filter(({ id }) => !active.has(id)).map(({ id }) => this.#get(id, signal)),
      );
      before = jobs;
      const event = { jobs: [...jobs, ...ended.filter((job) => job !== undefined)].map(jobSummaryToWire) };
      const text = JSON.stringify(event);
      if (text === told) return undefined;
      told = text;
      return event;
    };
  }

  async #look(): Promise<readonly Job[] | undefined> {
    const kept = this.#kept;
    if (kept !== undefined && this.#clock.monotonic() - kept.at < FRESH_MS) return kept.jobs;
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #lookNow(): Promise<readonly Job[] | undefined> {
    const found = await this.#asked((signal) =>
      this.#supervisor().jobs().list({ states: "active", limit: MOST }, signal),
    );
    if (found !== undefined) this.#kept = { jobs: found.jobs, at: this.#clock.monotonic() };
    return found?.jobs;
  }

  #get(id: string, caller: AbortSignal): Promise<Job | undefined> {
    return this.#asked((signal) =>
      this.#supervisor()
        .jobs()
        .get(id, AbortSignal.any([caller, signal])),
    );
  }

  /** `undefined` while there is no store that can say it, or it does not say: readiness and the log tell of that. */
  async #asked<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined> {
    using limit = deadline(this.#clock, LOOK_TIMEOUT_MS, new Error("the DLQ store did not answer"));
    try {
      return await orAborted(work(limit.signal), limit.signal);
    } catch {
      return undefined;
    }
  }
}
