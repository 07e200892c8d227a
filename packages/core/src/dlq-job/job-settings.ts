import type { Job } from "./job.ts";
import type { SettingsChange } from "./jobs.ts";

/** The job with some of its settings changed. */
export function withSettings(job: Job, { halt, ...change }: SettingsChange): Job {
  return { ...job, settings: { ...job.settings, ...change, halt: { ...job.settings.halt, ...halt } } };
}
