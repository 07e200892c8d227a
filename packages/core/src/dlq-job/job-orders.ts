import { Serial } from "@bridge/ports/internal";
import { refuseBinding } from "./call-refusals.ts";
import { ACTIVE_STATES, type Job } from "./job.ts";
import { JobBook, type KeptJob } from "./job-book.ts";
import { askedOf, jobIdOf, jobUnderKey } from "./job-key.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";
import { planJob } from "./job-planner.ts";
import { JobRefusal } from "./job-refusal.ts";
import type { JobOrder, Jobs } from "./jobs.ts";
import { isExpired } from "./plan-expiry.ts";

const MAX_ACTIVE = 16;

export interface JobOrdersOptions {
  readonly parts: JobParts;
  readonly jobs: Pick<Jobs, "get" | "start">;
  /** @throws OperationError when there is none that can hold jobs */
  readonly store: () => JobsStore;
}

/** Askings for jobs: each is planned and kept, unless it has come before under the same key. */
export class JobOrders {
  readonly #options: JobOrdersOptions;
  /** So that two that come at once are not both the sixteenth. */
  readonly #orders = new Serial();

  constructor(options: JobOrdersOptions) {
    this.#options = options;
  }

  plan(order: JobOrder, signal: AbortSignal): ReturnType<Jobs["plan"]> {
    return this.#orders.run(() => this.#plan(order, signal));
  }

  async #plan(order: JobOrder, signal: AbortSignal): Promise<{ readonly job: Job; readonly created: boolean }> {
    const { parts, jobs, store: storeOf } = this.#options;
    const store = storeOf();
    const clock = parts.clock;
    const book = new JobBook(store.jobs, clock);
    const { start = false, idempotencyKey: _, ...draft } = order;
    refuseBinding(draft, parts.config());
    const asked = askedOf(order);
    const there = asked && (await jobUnderKey(asked, { book, clock }, signal));
    if (there !== undefined && typeof there !== "string") return { job: there, created: false };
    const active = await book.list(ACTIVE_STATES, signal);
    refuseMany(active.filter(({ job, isDamaged }) => !isDamaged && !isExpired(job, clock.now())));
    const id = there ?? jobIdOf(parts.random.id());
    const planned = await planJob(parts, { store, draft, id }, signal);
    const job = asked === undefined ? planned : { ...planned, asked };
    if (!(await book.add(job, signal))) {
      // Somebody else has asked under the same key meanwhile.
      const former = await jobs.get(id, signal);
      return { job: former, created: false };
    }
    if (!start) return { job, created: true };
    return { job: await jobs.start(id, { planHash: job.plan.hash }, signal), created: true };
  }
}

/** @throws JobRefusal `too_many`, with the way out: whoever is refused may not know of plans that others have left */
function refuseMany(active: readonly KeptJob[]): void {
  if (active.length < MAX_ACTIVE) return;
  const planned = active.filter(({ job }) => job.state === "planned").length;
  const plans = planned === 0 ? "" : `, ${planned} of them planned and not started`;
  throw new JobRefusal(
    "too_many",
    `${active.length} jobs are active${plans}: list them with state=active and cancel one that nobody needs, or let one end`,
  );
}
