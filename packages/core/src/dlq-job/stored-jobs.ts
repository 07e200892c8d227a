import type { Clock } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import { askHere, changeHere } from "./ask-here.ts";
import {
  notRefused,
  refuseBusy,
  refuseChanged,
  refuseEmpty,
  refuseEnded,
  refuseErased,
  refuseOtherPlan,
} from "./call-refusals.ts";
import { ACTIVE_STATES, isOver, type Job, type JobRequest } from "./job.ts";
import { JobBook } from "./job-book.ts";
import { JobOrders } from "./job-orders.ts";
import type { JobOwner } from "./job-owner.ts";
import { type JobsPage, pageOfJobs } from "./jobs-page.ts";
import { orHere } from "./or-here.ts";
import { holdsJobs, type JobParts, type JobsStore } from "./job-parts.ts";
import type { JobRun } from "./job-run.ts";
import { withSettings } from "./job-settings.ts";
import { called } from "./job-state.ts";
import type { JobFacts, JobOrder, Jobs, JobsRequest, SettingsChange, StartRequest } from "./jobs.ts";
import { asOf } from "./plan-expiry.ts";
import { countSet, type SetCount } from "./set-count.ts";
import { setQuery } from "./set-query.ts";
import { undoDamaged } from "./undo-damaged.ts";

/** An index may show by then what has gone into the trash. */
const SETTLED_MS = 60_000;

export class StoredJobs implements Jobs {
  readonly #parts: JobParts;
  readonly #owner: JobOwner;
  readonly #clock: Clock;
  readonly #orders: JobOrders;
  /** So that of two that come at once, with a route of both, the second sees the first. */
  readonly #starts = new Serial();

  constructor(parts: JobParts, owner: JobOwner) {
    this.#parts = parts;
    this.#owner = owner;
    this.#clock = parts.clock;
    this.#orders = new JobOrders({ parts, jobs: this, store: () => this.#store() });
  }

  plan(order: JobOrder, signal: AbortSignal): Promise<{ readonly job: Job; readonly created: boolean }> {
    return this.#orders.plan(order, signal);
  }

  async get(id: string, signal: AbortSignal): Promise<Job> {
    const asked = async (bound: AbortSignal): Promise<Job> => {
      const kept = await this.#book().get(id, bound);
      if (kept === undefined) throw new OperationError("not_found", "job not found");
      return this.#asOfNow(this.#owner.here.known(kept));
    };
    return orHere(
      { runOf: () => this.#owner.here.runOf(id), clock: this.#clock, signal },
      asked,
      (run) => run.unstored,
    );
  }

  async facts(id: string, signal: AbortSignal): Promise<JobFacts> {
    return this.#owner.here.runOf(id)?.job ?? this.get(id, signal);
  }

  async list(request: JobsRequest, signal: AbortSignal): Promise<JobsPage> {
    const kept = await this.#book().list(undefined, signal);
    const known = kept.map((job) => this.#asOfNow(this.#owner.here.known(job)));
    return pageOfJobs(known, request);
  }

  async change(id: string, change: SettingsChange, signal: AbortSignal): Promise<Job> {
    const written = (bound: AbortSignal): Promise<Job> =>
      this.#written(id, bound, (job) => {
        refuseEnded(job);
        return withSettings(job, change);
      });
    const here = async (run: JobRun): Promise<Job> => {
      const told = await changeHere(run, change);
      return told === "lost" ? written(signal) : told;
    };
    const asked = this.#owner.here.askedBefore(id);
    if (asked !== undefined) return here(asked);
    const runOf = (): JobRun | undefined => this.#owner.here.heardBy(id);
    return orHere({ runOf, clock: this.#clock, signal }, written, here);
  }

  start(id: string, request: StartRequest, signal: AbortSignal): Promise<Job> {
    return this.#starts.run(() => this.#start(id, request, signal));
  }

  async #start(id: string, { planHash, acceptChangedConfig }: StartRequest, signal: AbortSignal): Promise<Job> {
    const others = await this.#book().list(ACTIVE_STATES, signal);
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
    const here = async (run: JobRun): Promise<Job> => {
      const told = await askHere(run, request);
      return told === "lost" ? this.#ask(id, request, signal) : told;
    };
    const asked = this.#owner.here.askedBefore(id);
    if (asked !== undefined) return here(asked);
    // What is over is in its store, and in nobody's hands.
    const runOf = (): JobRun | undefined => (request.call === "undo" ? undefined : this.#owner.here.heardBy(id));
    return orHere({ runOf, clock: this.#clock, signal }, (bound) => this.#ask(id, request, bound), here);
  }

  async #ask(id: string, request: JobRequest, signal: AbortSignal): Promise<Job> {
    const given = { book: this.#book(), store: this.#store(), clock: this.#clock };
    const undoing = request.call === "undo" ? await undoDamaged(id, given, signal) : undefined;
    if (undoing !== undefined) {
      this.#owner.poke(id);
      return undoing;
    }
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
