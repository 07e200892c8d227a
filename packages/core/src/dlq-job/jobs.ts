import { hash } from "node:crypto";
import type { Clock } from "@bridge/ports";
import { Serial } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import {
  ACTIVE_STATES,
  ENDED_STATES,
  isOver,
  type Job,
  type JobRequest,
  type JobSettings,
  type JobState,
} from "./job.ts";
import { JobBook, type KeptJob } from "./job-book.ts";
import { type JobOwner, PLAN_LASTS_MS } from "./job-owner.ts";
import { holdsJobs, type JobParts, type JobsStore } from "./job-parts.ts";
import { type JobDraft, planJob } from "./job-planner.ts";
import { JobRefusal } from "./job-refusal.ts";
import { answerTo, called, moved } from "./job-state.ts";
import { countSet, type SetCount } from "./set-count.ts";
import { setQuery } from "./set-query.ts";

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
  /** Newest first. */
  list(request: JobsRequest, signal: AbortSignal): Promise<{ readonly jobs: readonly Job[]; readonly more: boolean }>;
  change(id: string, change: SettingsChange, signal: AbortSignal): Promise<Job>;
  start(id: string, request: StartRequest, signal: AbortSignal): Promise<Job>;
  ask(id: string, request: JobRequest, signal: AbortSignal): Promise<Job>;
  /** @throws OperationError when there is no store that can hold jobs */
  check(): void;
}

const MAX_ACTIVE = 16;
/** Those that are active, and those that are kept. */
const MAX_LISTED = 500;
const KEY_LASTS_MS = 24 * 3_600_000;

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
    const kept = await this.#book().get(id, signal);
    if (kept === undefined) throw notFound();
    return this.#shown(kept);
  }

  async list(
    { states, limit, after }: JobsRequest,
    signal: AbortSignal,
  ): Promise<{ readonly jobs: readonly Job[]; readonly more: boolean }> {
    const kept = await this.#book().list(undefined, MAX_LISTED, signal);
    const found = kept
      .map((one) => this.#shown(one))
      .filter(({ state }) => states === undefined || isIn(states, state));
    const behind = after === undefined ? found : found.filter((job) => isOlder(job, after));
    return { jobs: behind.slice(0, limit), more: behind.length > limit };
  }

  change(id: string, { halt, ...change }: SettingsChange, signal: AbortSignal): Promise<Job> {
    return this.#written(id, signal, (job) => {
      if (answerTo(job, "change").kind === "refused")
        throw new JobRefusal("ended", `the job is ${job.state}: nothing of it can be changed`);
      const settings = { ...job.settings, ...change, halt: { ...job.settings.halt, ...halt } };
      return { ...job, settings };
    });
  }

  start(id: string, request: StartRequest, signal: AbortSignal): Promise<Job> {
    return this.#starts.run(() => this.#start(id, request, signal));
  }

  async #start(id: string, { planHash, acceptChangedConfig }: StartRequest, signal: AbortSignal): Promise<Job> {
    const others = await this.#book().list(ACTIVE_STATES, MAX_LISTED, signal);
    const found = await this.#counted(id, signal);
    return this.#written(id, signal, (job) => {
      const next = this.#called(job, { call: "start" });
      if (planHash !== job.plan.hash) throw otherPlan();
      if (next === job) return job;
      if (this.#parts.config().configVersion !== job.plan.configVersion && acceptChangedConfig !== true)
        throw otherPlan();
      const why = found && whyOther(found, job.plan);
      if (why !== undefined) throw new JobRefusal("plan_changed", `${why}: plan it again`);
      this.#refuseBusy(job, others);
      return next;
    });
  }

  ask(id: string, request: JobRequest, signal: AbortSignal): Promise<Job> {
    return this.#written(id, signal, (job) => {
      const next = this.#called(job, request);
      if (request.call === "undo" && next !== job) this.#refuseErased(job);
      return next;
    });
  }

  check(): void {
    void this.#store();
  }

  async #plan(order: JobOrder, signal: AbortSignal): Promise<{ readonly job: Job; readonly created: boolean }> {
    const store = this.#store();
    const book = this.#book();
    const { start = false, idempotencyKey, ...draft } = order;
    this.#refuseBinding(draft);
    const asked = idempotencyKey === undefined ? undefined : askedOf(order, idempotencyKey);
    const there = asked && (await this.#former(book, asked, signal));
    if (there !== undefined && typeof there !== "string") return { job: there, created: false };
    const active = await book.list(ACTIVE_STATES, MAX_ACTIVE + 1, signal);
    if (active.filter(({ job }) => !this.#isExpired(job)).length >= MAX_ACTIVE)
      throw new JobRefusal("too_many", `${MAX_ACTIVE} jobs are active: let one end, or cancel it`);
    const id = there ?? `job-${digest(this.#parts.random.id())}`;
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

  /** The job of this key, or the id that it is to have. @throws JobRefusal `key_reused` */
  async #former(book: JobBook, asked: NonNullable<Job["asked"]>, signal: AbortSignal): Promise<Job | string> {
    for (let day = 0; ; day++) {
      const id = `job-${digest(JSON.stringify([asked.key, day]))}`;
      const kept = await book.get(id, signal);
      if (kept === undefined) return id;
      if (this.#clock.now() - kept.job.createdAt >= KEY_LASTS_MS) continue;
      if (kept.job.asked?.body === asked.body) return this.#shown(kept);
      throw new JobRefusal("key_reused", "this Idempotency-Key came with another request: give a fresh one");
    }
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
    const next = called(job, request, this.#clock.now());
    if ("id" in next) return next;
    throw new JobRefusal("state", `the job is ${job.state}`);
  }

  #refuseBusy({ id, lanes }: Job, others: readonly KeptJob[]): void {
    const routes = new Set(lanes.map(({ routeId }) => routeId));
    for (const { job } of others) {
      if (job.id === id || job.state === "planned") continue;
      const both = job.lanes.find(({ routeId }) => routes.has(routeId));
      if (both !== undefined) throw new JobRefusal("route_busy", `route ${both.routeId} is in job ${job.id} already`);
    }
  }

  #refuseErased({ undoUntil, startedAt, endedAt }: Job): void {
    if (startedAt === undefined || (undoUntil !== undefined && this.#clock.now() < undoUntil)) return;
    // oxlint-disable-next-line no-restricted-globals -- of a time that is given
    const at = new Date(undoUntil ?? endedAt ?? startedAt).toISOString();
    // Another instance's clock may not be there yet: only what this one knows is told.
    const why =
      undoUntil === undefined
        ? `the entries were erased at ${at}`
        : `undo_within ended at ${at} by this instance's clock`;
    throw new JobRefusal("too_late", why);
  }

  #refuseBinding({ bindingId, query }: JobDraft): void {
    if (bindingId === undefined) return;
    const route = this.#parts.config().routes.find(({ id }) => id === query.routeId);
    if (route?.bindings.includes(bindingId) !== true)
      throw new JobRefusal("binding", `binding_id: route ${query.routeId ?? ""} has no binding ${bindingId}`);
  }

  #shown({ job }: KeptJob): Job {
    return this.#asOfNow(job);
  }

  /** What is over its time is not shown, whoever sweeps it. */
  #asOfNow(job: Job): Job {
    return this.#isExpired(job) ? moved(job, "expired", job.createdAt + PLAN_LASTS_MS) : job;
  }

  #isExpired({ state, createdAt }: Job): boolean {
    return state === "planned" && this.#clock.now() >= createdAt + PLAN_LASTS_MS;
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

function notFound(): OperationError {
  return new OperationError("not_found", "job not found");
}

function otherPlan(): JobRefusal {
  return new JobRefusal("plan_changed", "the plan is another one: look at it again");
}

function isIn(states: "active" | "ended", state: JobState): boolean {
  return (states === "active" ? ACTIVE_STATES : ENDED_STATES).includes(state);
}

function isOlder(job: Job, { createdAt, id }: { readonly createdAt: number; readonly id: string }): boolean {
  return job.createdAt < createdAt || (job.createdAt === createdAt && job.id < id);
}

function askedOf(order: JobOrder, idempotencyKey: string): NonNullable<Job["asked"]> {
  const { idempotencyKey: _, ...body } = order;
  return {
    key: hash("sha256", JSON.stringify([order.actor, idempotencyKey]), "hex"),
    body: digest(JSON.stringify(body)),
  };
}

function digest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 16);
}

/** Why what a purge would take by now is not what its plan has shown, as far as counts tell: it takes the oldest first. */
function whyOther({ total, oldestFailedAt }: SetCount, plan: Job["plan"]): string | undefined {
  if (total > plan.total) return `the plan showed ${plan.total} entries and ${total} match by now`;
  const hasOlder = oldestFailedAt !== undefined && oldestFailedAt < (plan.oldestFailedAt ?? oldestFailedAt);
  return hasOlder ? "entries match by now that failed before the oldest one of the plan" : undefined;
}
