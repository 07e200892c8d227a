import type { Job, JobRequest, JobSettings } from "./job.ts";
import type { JobDraft } from "./job-planner.ts";

/** An asking for a job, with what tells repeats of it. */
export interface JobOrder extends JobDraft {
  readonly start?: boolean | undefined;
  /** The same key of the same actor within a day stands for the same job. */
  readonly idempotencyKey?: string | undefined;
}

/** What is asked of a list of jobs. */
export interface JobsRequest {
  readonly states?: "active" | "ended" | undefined;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
}

export interface StartRequest {
  /** Of the plan that was looked at. */
  readonly planHash: string;
  readonly acceptChangedConfig?: boolean | undefined;
}

/** What of a job never changes. */
export type JobFacts = Pick<Job, "kind" | "query" | "bindingId">;

/** What of a job may be changed while it runs. */
export interface SettingsChange extends Partial<Omit<JobSettings, "halt">> {
  readonly halt?: Partial<JobSettings["halt"]> | undefined;
}

/**
 * The jobs of the DLQ store that is open. Calls of a job that somebody works on are carried out by whoever does.
 * @throws OperationError `not_found` without a store that can do that, and for an unknown job; `unavailable` while it is not open
 * @throws JobRefusal saying why a call is not possible
 */
export interface Jobs {
  /** Counts, samples and predicts; nothing else is done. `created` is false when the key had come before. */
  plan(order: JobOrder, signal: AbortSignal): Promise<{ readonly job: Job; readonly created: boolean }>;
  get(id: string, signal: AbortSignal): Promise<Job>;
  /** Of a job that is worked on here its store is not asked. */
  facts(id: string, signal: AbortSignal): Promise<JobFacts>;
  /** Newest first. */
  list(request: JobsRequest, signal: AbortSignal): Promise<{ readonly jobs: readonly Job[]; readonly more: boolean }>;
  change(id: string, change: SettingsChange, signal: AbortSignal): Promise<Job>;
  start(id: string, request: StartRequest, signal: AbortSignal): Promise<Job>;
  ask(id: string, request: JobRequest, signal: AbortSignal): Promise<Job>;
  /** @throws OperationError when there is no store that can hold jobs */
  check(): void;
}
