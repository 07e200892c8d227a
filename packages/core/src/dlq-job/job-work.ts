import type { Job } from "./job.ts";

/** What is done for a job while it runs. */
export interface JobWork {
  /** Works until nothing more may begin, or there is nothing to do here. */
  work(): Promise<void>;
  /** Resolves when what is under way has ended. */
  settled(): Promise<void>;
  /** The job with what only the work knows. */
  current(): Job;
  /** Something may be different: a request, a setting, the end. */
  wake(): void;
  /** Once a second. */
  beat?(): Promise<void>;
}
