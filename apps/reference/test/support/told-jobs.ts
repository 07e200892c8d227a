import { expect } from "vitest";
import { eventually, type Told } from "./ask.ts";
import { until } from "./until.ts";

/** What the interface tells of a job, as far as tests look at it. */
export interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly owner?: string;
  readonly requested?: string;
  readonly waiting_for?: string;
  readonly halted?: { readonly why: string; readonly failed: number; readonly attempts: number };
  readonly plan: {
    readonly hash: string;
    readonly total: number;
    readonly sample: readonly { readonly id: string; readonly outcome?: string }[];
  };
  readonly progress: Readonly<
    Record<"total" | "done" | "succeeded" | "failed" | "skipped" | "in_doubt" | "remaining" | "in_flight", number>
  > & { readonly step: { readonly index: number } };
}

type Ask = (method: string, path: string, body?: unknown) => Promise<Told>;

/** A redrive as fast as it goes, in one step, that never halts. */
export const AT_ONCE = {
  kind: "redrive",
  reason: "a test",
  rate: 10_000,
  concurrency: 8,
  ramp: [],
  halt: { failure_ratio: 1, consecutive: 0 },
} as const;

export async function planned(ask: Ask, order: object): Promise<JobBody> {
  const { status, body } = await ask("POST", "/dlq/jobs", { filter: {}, ...order });
  expect([status, body]).toMatchObject([201, { state: "planned" }]);
  return body as JobBody;
}

/** Plans and starts. */
export async function begun(ask: Ask, order: object): Promise<JobBody> {
  const job = await planned(ask, order);
  const told = await ask("POST", `/dlq/jobs/${job.id}/start`, { plan_hash: job.plan.hash });
  expect(told.status).toBe(202);
  return told.body as JobBody;
}

/** Waits, as long as something moves, until it is out of its owner's hands in this state. */
export async function reaches(ask: Ask, { id }: Pick<JobBody, "id">, state: string): Promise<JobBody> {
  let last: JobBody | undefined;
  await until(
    state,
    async () => {
      const { status, body } = await ask("GET", `/dlq/jobs/${id}`);
      if (status === 200) last = body as JobBody;
      return last?.state === state && last.owner === undefined && last.progress.in_flight === 0;
    },
    () => last?.progress.done ?? 0,
    // What was on loan to a drain that was killed comes back after half a minute.
    180_000,
  );
  return last as JobBody;
}

export async function jobNow(ask: Ask, { id }: Pick<JobBody, "id">): Promise<JobBody> {
  const told = await eventually(
    () => ask("GET", `/dlq/jobs/${id}`),
    ({ status }) => status === 200,
  );
  return told.body as JobBody;
}
