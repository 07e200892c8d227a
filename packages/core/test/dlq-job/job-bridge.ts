import type { BridgeConfig } from "@bridge/config";
import type { DeadLetter, DlqJobs, DlqStore } from "@bridge/ports";
import type { Job, JobState } from "../../src/dlq-job/job.ts";
import { readJob, storedJob } from "../../src/dlq-job/job-document.ts";
import type { JobOrder } from "../../src/dlq-job/jobs.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound, type MemoryBridge, memoryBridge } from "../support/memory-bridge.ts";

/** A bridge that runs, whose failures are final at once. */
export async function started(options: Parameters<typeof memoryBridge>[0] = {}): Promise<MemoryBridge> {
  const bridge = memoryBridge({ ...options, policy: { maxReplayAttempts: 1, ...options.policy } });
  await bridge.supervisor.start(bound());
  return bridge;
}

/** As if instances shared the store. */
export const shared = (config: BridgeConfig): BridgeConfig => ({
  ...config,
  stores: { ...config.stores, dlq: { type: "test", reach: "cluster", options: {} } },
});

export function entryOf(nth: number, changes: Partial<DeadLetter> = {}): DeadLetter {
  const id = `e${String(nth).padStart(5, "0")}`;
  return {
    id,
    routeId: "r",
    bindingId: "out",
    sourceId: "in",
    correlationId: "c",
    subject: id,
    reason: "refused",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "no",
    failedAt: nth,
    attempts: 1,
    envelope: envelopeOf({ id: `original-${id}`, subject: id }),
    ...changes,
  };
}

export async function fill(
  dlq: DlqStore,
  count: number,
  change: (nth: number) => Partial<DeadLetter> = () => ({}),
): Promise<void> {
  for (let nth = 0; nth < count; nth++) await dlq.put(entryOf(nth, change(nth)), bound());
}

/** As fast as it can, and in one step. */
export const AT_ONCE = {
  rate: 10_000,
  concurrency: 16,
  ramp: [],
  rampPauseMs: 0,
  halt: { failureRatio: 1, minAttempts: 20, consecutive: 0 },
} as const;

export function orderOf(changes: Partial<JobOrder> = {}): JobOrder {
  return { kind: "redrive", query: {}, reason: "it is back", actor: "alice", settings: AT_ONCE, ...changes };
}

/** Plans and starts. */
export async function begun(bridge: MemoryBridge, changes: Partial<JobOrder> = {}): Promise<Job> {
  const jobs = bridge.supervisor.jobs();
  const { job } = await jobs.plan(orderOf(changes), bound());
  return jobs.start(job.id, { planHash: job.plan.hash }, bound());
}

export async function until(
  { clock, supervisor }: MemoryBridge,
  id: string,
  condition: JobState | ((job: Job) => boolean),
): Promise<Job> {
  for (let step = 0; step < 20_000; step++) {
    const job = await supervisor.jobs().get(id, bound());
    if (typeof condition === "string" ? job.state === condition && job.owner === undefined : condition(job)) return job;
    await clock.advance(20);
  }
  const { state, waitingFor, counts } = await supervisor.jobs().get(id, bound());
  throw new Error(`the job is ${state} (${waitingFor ?? ""}), ${JSON.stringify(counts)}`);
}

export async function stored(dlq: DlqStore): Promise<readonly string[]> {
  return (await dlq.list({}, { limit: 100_000, offset: 0 }, bound())).map(({ id }) => id);
}

/** Writes the job as another instance does. */
export async function rewrite(jobs: DlqJobs, id: string, change: (job: Job) => Partial<Job>): Promise<void> {
  const kept = await jobs.get(id, bound());
  const job = kept && readJob(kept);
  if (typeof job !== "object") throw new Error("the job is not there, or cannot be read");
  const next = storedJob({ ...job, ...change(job) }, (kept?.revision ?? 0) + 1);
  if (!(await jobs.put(next, kept?.revision, bound()))) throw new Error("the job has been written meanwhile");
}
