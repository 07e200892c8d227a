import type { DlqJobs, StoredJob } from "@bridge/ports";

/** Jobs in `jobs`. `begin` refuses a call that must not be served. */
export function memoryJobs(jobs: Map<string, StoredJob>, begin: (signal: AbortSignal) => void): DlqJobs {
  return {
    async get(id, signal) {
      begin(signal);
      return jobs.get(id);
    },
    async list({ states, limit }, signal) {
      begin(signal);
      return [...jobs.values()]
        .filter(({ state }) => states?.includes(state) ?? true)
        .toSorted(newestFirst)
        .slice(0, limit);
    },
    async put(job, expectedRevision, signal) {
      begin(signal);
      if (jobs.get(job.id)?.revision !== expectedRevision) return false;
      jobs.set(job.id, Object.freeze({ ...job }));
      return true;
    },
    async delete(ids, signal) {
      begin(signal);
      for (const id of ids) jobs.delete(id);
    },
  };
}

function newestFirst(a: StoredJob, b: StoredJob): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}
