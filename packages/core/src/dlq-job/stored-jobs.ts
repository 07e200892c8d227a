import type { Clock } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import {
  refuseBinding,
  refuseBusy,
  refuseCall,
  refuseChanged,
  refuseEmpty,
  refuseErased,
  refuseOtherPlan,
} from "./call-refusals.ts";
import { ACTIVE_STATES, ENDED_STATES, isOver, type Job, type JobCall, type JobRequest, type JobState } from "./job.ts";
import { JobBook } from "./job-book.ts";
import { askedOf, jobIdOf, jobUnderKey } from "./job-key.ts";
import type { JobOwner } from "./job-owner.ts";
import { orHere } from "./or-here.ts";
import { holdsJobs, type JobParts, type JobsStore } from "./job-parts.ts";
import { planJob } from "./job-planner.ts";
import { JobRefusal } from "./job-refusal.ts";
import type { JobRun } from "./job-run.ts";
import { withSettings } from "./job-settings.ts";
import { type Answer, answerTo, called } from "./job-state.ts";
import type { JobOrder, Jobs, JobsRequest, SettingsChange, StartRequest } from "./jobs.ts";
import { asOf, isExpired } from "./plan-expiry.ts";
import { countSet, type SetCount } from "./set-count.ts";
import { setQuery } from "./set-query.ts";

/** An index may show by then what has gone into the trash. */
const SETTLED_MS = 60_000;
const MAX_ACTIVE = 16;
/** Those that are active, and those that are kept. */
const MAX_LISTED = 500;

export class StoredJobs implements Jobs {
  readonly #parts: JobParts;
  readonly #owner: JobOwner;
  readonly #clock: Clock;
  /** So that two that come at once are not both the sixteenth. */
  readonly #orders = new Serial();
  /** So that of two that come at once, with a route of both, the second sees the first. */
  readonly #starts = new Serial();

  constructor(parts: JobParts, owner: JobOwner) {
    this.#parts = parts;
    this.#owner = owner;
    this.#clock = parts.clock;
  }

  plan(order: JobOrder, signal: AbortSignal): Promise<{ readonly job: Job; readonly created: boolean }> {
    return this.#orders.run(() => this.#plan(order, signal));
  }

  async get(id: string, signal: AbortSignal): Promise<Job> {
    const asked = async (bound: AbortSignal): Promise<Job> => {
      const kept = await this.#book().get(id, bound);
      if (kept === undefined) throw notFound();
      return this.#asOfNow(this.#owner.known(kept));
    };
    return orHere({ runOf: () => this.#owner.runOf(id), clock: this.#clock, signal }, asked, (run) => run.unstored);
  }

  async list(
    { states, limit, after }: JobsRequest,
    signal: AbortSignal,
  ): Promise<{ readonly jobs: readonly Job[]; readonly more: boolean }> {
    const kept = await this.#book().list(undefined, MAX_LISTED, signal);
    const found = kept
      .map((job) => this.#asOfNow(this.#owner.known(job)))
      .filter(({ state }) => states === undefined || isIn(states, state));
    const behind = after === undefined ? found : found.filter((job) => isOlder(job, after));
    return { jobs: behind.slice(0, limit), more: behind.length > limit };
  }

  async change(id: string, change: SettingsChange, signal: AbortSignal): Promise<Job> {
    const changed = (job: Job): Job => {
      if (answerTo(job, "change").kind === "refused")
        throw new JobRefusal("ended", `the job is ${job.state}: nothing of it can be changed`);
      return withSettings(job, change);
    };
    const here = (run: JobRun): Job => {
      changed(run.job);
      return run.change(change);
    };
    const asked = this.#askedHere(id);
    if (asked !== undefined) return here(asked);
    const to = { runOf: () => this.#heardBy(id), clock: this.#clock, signal };
    return orHere(to, (bound) => this.#written(id, bound, changed), here);
  }

  start(id: string, request: StartRequest, signal: AbortSignal): Promise<Job> {
    return this.#starts.run(() => this.#start(id, request, signal));
  }

  async #start(id: string, { planHash, acceptChangedConfig }: StartRequest, signal: AbortSignal): Promise<Job> {
    const others = await this.#book().list(ACTIVE_STATES, MAX_LISTED, signal);
    const found = await this.#counted(id, signal);
    return this.#written(id, signal, (job) => {
      const next = this.#called(job, { call: "start" });
      refuseOtherPlan(job, planHash);
      if (next === job) return job;
      const { configVersion } = this.#parts.config();
      refuseChanged(job, { configVersion, accepted: acceptChangedConfig === true, found });
      refuseBusy(job, others);
      return next;
    });
  }

  async ask(id: string, request: JobRequest, signal: AbortSignal): Promise<Job> {
    const here = (run: JobRun): Job => notRefused(run.ask(request), run.job, request.call);
    const asked = this.#askedHere(id);
    if (asked !== undefined) return here(asked);
    // What is over is in its store, and in nobody's hands.
    const runOf = (): JobRun | undefined => (request.call === "undo" ? undefined : this.#heardBy(id));
    return orHere({ runOf, clock: this.#clock, signal }, (bound) => this.#ask(id, request, bound), here);
  }

  /** Who works on it here, and hears what is asked: what another instance may work on by now would not. */
  #heardBy(id: string): JobRun | undefined {
    const run = this.#owner.runOf(id);
    return run?.hold.mayBeAnothers === true ? undefined : run;
  }

  /** Who works on it here, when its store does not know yet what was asked before: that would come after what is asked now. */
  #askedHere(id: string): JobRun | undefined {
    const run = this.#heardBy(id);
    return run?.hold.isAsked === true && !isOver(run.job.state) ? run : undefined;
  }

  async #ask(id: string, request: JobRequest, signal: AbortSignal): Promise<Job> {
    const isEmpty = request.call === "undo" && (await this.#hasNothingBack(id, signal));
    return this.#written(id, signal, (job) => {
      const next = this.#called(job, request);
      if (request.call === "undo" && next !== job) refuseErased(job, this.#clock.now());
      if (isEmpty && next !== job) refuseEmpty();
      return next;
    });
  }

  check(): void {
    void this.#store();
  }

  /** Of a purge that has been over for a while: nothing of it is in the trash, as far as the store tells. */
  async #hasNothingBack(id: string, signal: AbortSignal): Promise<boolean> {
    const job = (await this.#book().get(id, signal))?.job;
    const isOld = this.#clock.now() - (job?.endedAt ?? Infinity) >= SETTLED_MS;
    if (job?.kind !== "purge" || job.undoUntil === undefined || job.counts.succeeded === 0 || !isOld) return false;
    const count = this.#store().admin.trash?.count(1, signal, id);
    // Without an answer the undo goes on, and tells what is gone.
    return (await count?.catch(() => undefined)) === 0;
  }

  async #plan(order: JobOrder, signal: AbortSignal): Promise<{ readonly job: Job; readonly created: boolean }> {
    const store = this.#store();
    const book = this.#book();
    const { start = false, idempotencyKey: _, ...draft } = order;
    refuseBinding(draft, this.#parts.config());
    const asked = askedOf(order);
    const there = asked && (await jobUnderKey(asked, { book, clock: this.#clock }, signal));
    if (there !== undefined && typeof there !== "string") return { job: there, created: false };
    const active = await book.list(ACTIVE_STATES, MAX_ACTIVE + 1, signal);
    if (active.filter(({ job }) => !isExpired(job, this.#clock.now())).length >= MAX_ACTIVE)
      throw new JobRefusal("too_many", `${MAX_ACTIVE} jobs are active: let one end, or cancel it`);
    const id = there ?? jobIdOf(this.#parts.random.id());
    const planned = await planJob(this.#parts, { store, draft, id }, signal);
    const job = asked === undefined ? planned : { ...planned, asked };
    if (!(await book.add(job, signal))) {
      // Somebody else has asked under the same key meanwhile.
      const former = await this.get(id, signal);
      return { job: former, created: false };
    }
    if (!start) return { job, created: true };
    return { job: await this.start(id, { planHash: job.plan.hash }, signal), created: true };
  }

  /** Of a planned purge: what it would take by now, where that can be said exactly. */
  async #counted(id: string, signal: AbortSignal): Promise<SetCount | undefined> {
    const kept = await this.#book().get(id, signal);
    if (kept?.job.kind !== "purge" || kept.job.state !== "planned" || !kept.job.plan.exact) return undefined;
    const { job } = kept;
    const count = await countSet(
      { store: this.#store(), query: setQuery(job), limit: job.limit, clock: this.#clock },
      signal,
    );
    return count.exact ? count : undefined;
  }

  async #written(id: string, signal: AbortSignal, change: (job: Job) => Job): Promise<Job> {
    let wasOver = true;
    const job = await this.#book().change(
      id,
      (kept) => {
        const before = this.#asOfNow(kept);
        wasOver = isOver(before.state);
        const next = change(before);
        return next === before ? kept : next;
      },
      signal,
    );
    if (!wasOver && isOver(job.state)) this.#parts.tell({ kind: "ended", job });
    this.#owner.poke(id);
    return this.#asOfNow(job);
  }

  #called(job: Job, request: JobRequest | { readonly call: "start" }): Job {
    return notRefused(called(job, request, this.#clock.now()), job, request.call);
  }

  #asOfNow(job: Job): Job {
    return asOf(job, this.#clock.now());
  }

  #book(): JobBook {
    return new JobBook(this.#store().jobs, this.#clock);
  }

  #store(): JobsStore {
    const store = this.#parts.store();
    if (store === undefined)
      throw this.#parts.config().stores.dlq === undefined
        ? new OperationError("not_found", "no DLQ store configured")
        : new OperationError("unavailable", "the DLQ store is not open");
    if (!holdsJobs(store)) throw new OperationError("not_found", "the DLQ store cannot do that");
    return store;
  }
}

/** @throws JobRefusal `state` */
function notRefused(next: Job | Answer, job: Job, call: JobCall): Job {
  return "id" in next ? next : refuseCall(job, call);
}

function notFound(): OperationError {
  return new OperationError("not_found", "job not found");
}

function isIn(states: "active" | "ended", state: JobState): boolean {
  return (states === "active" ? ACTIVE_STATES : ENDED_STATES).includes(state);
}

function isOlder(job: Job, { createdAt, id }: { readonly createdAt: number; readonly id: string }): boolean {
  return job.createdAt < createdAt || (job.createdAt === createdAt && job.id < id);
}
