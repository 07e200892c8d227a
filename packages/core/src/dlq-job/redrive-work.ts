import type { DeadLetter, DeadLetterHead } from "@bridge/ports";
import { deadline, fingerprintOf } from "@bridge/ports/internal";
import { RateLimiter } from "../control/rate-limiter.ts";
import { DELETE_TIMEOUT_MS } from "../dlq/attempt.ts";
import { deleteDelivered } from "../dlq/delete-delivered.ts";
import type { ReplayFailure } from "../dlq/failed-replay.ts";
import { orderingKey } from "../route/identity.ts";
import { KeyedOrder, type Turn } from "../route/keyed-order.ts";
import { withFailure } from "./error-groups.ts";
import { afterStep, HaltWatch } from "./halt.ts";
import { doneOf, type Job, type JobLane } from "./job.ts";
import type { JobRun, JobWork } from "./job-run.ts";
import { Lane } from "./lane.ts";
import { isBehind, LaneReader } from "./lane-reader.ts";
import { isSettled, mayBegin, nextStep } from "./ramp.ts";
import { fetchEntry, type ReplayContext, replayEntry, type ReplayOutcome } from "./replay-outcome.ts";
import { setQuery } from "./set-query.ts";

/** When nothing tells that something has changed, it is looked again. */
const LOOK_MS = 250;
/** Entries that are in the outbox for longer than their replay; further ones wait. */
const MAX_PENDING = 128;
/** Failed entries that a cursor has not passed; further ones wait. */
const MAX_AHEAD = 64;
/** An entry of which nobody can say what became of it comes again so often. */
const MAX_DOUBTS = 3;
/** Entries that wait in the outbox and are looked at in one beat. */
const LOOKED_AT = 16;

type Back = ReplayOutcome & { readonly kind: "back" };
type Failed = ReplayOutcome & { readonly kind: "failed" };

/** Redrives the entries of a job: a lane for each route, in steps, at a rate. */
export class RedriveWork implements JobWork {
  readonly #run: JobRun;
  readonly #rate: RateLimiter;
  readonly #order = new KeyedOrder();
  readonly #watch = new HaltWatch();
  readonly #doubts = new Map<string, number>();
  /** Failed in this try and counted, as the document said: their cursor had not passed them. */
  readonly #counted: Set<string>;
  /** The same since, with their lanes. */
  readonly #ahead = new Map<string, Lane>();
  /** Delivered and not deleted, with their lanes. */
  readonly #undeleted = new Map<string, Lane>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #lanes: readonly Lane[];
  #nextLane = 0;
  #entering: Promise<unknown> = Promise.resolve();
  #changed = Promise.withResolvers<void>();
  /** Ends a wait for the rate when nothing may begin any more. */
  #interrupt = new AbortController();
  /** Monotonic milliseconds: when the next step begins; 0 while none is over. */
  #stepAt = 0;

  constructor(run: JobRun) {
    const { job, parts } = run;
    this.#run = run;
    this.#rate = new RateLimiter(parts.clock, limitOf(job));
    this.#counted = new Set(job.ahead);
    this.#lanes = job.lanes.filter(({ ended }) => !ended).map((lane) => this.#laneOf(lane));
  }

  async work(): Promise<void> {
    for (;;) {
      this.#run.obey();
      if (!this.#run.goesOn) return;
      this.#rate.limit = limitOf(this.#run.job);
      this.#endStep();
      for (const lane of this.#lanes) this.#fill(lane);
      const lane = this.#laneToTake();
      if (lane === undefined) {
        if (this.#underWay.size === 0 && this.#isFinished()) return;
        await this.#change();
      } else if (await this.#turn()) {
        if (this.#run.goesOn && lane.mayTake) this.#begin(lane);
      }
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#undeleted.size > 0) await this.#deleteDelivered();
  }

  wake(): void {
    if (!this.#run.goesOn || this.#run.job.requested !== undefined) this.#interrupt.abort();
    this.#rate.limit = limitOf(this.#run.job);
    this.#changed.resolve();
  }

  current(): Job {
    const { job } = this.#run;
    // All has been said of it.
    if (job.state === "completed") return job;
    const states = new Map(this.#lanes.map((lane) => [lane.routeId, lane.state]));
    return {
      ...job,
      // Once it has been reset for another try, these are not its lanes any more.
      lanes: job.lanes.map((lane) => states.get(lane.routeId) ?? lane),
      total: Math.max(job.total, doneOf(job.counts)),
      ahead: [...this.#counted, ...this.#ahead.keys()],
      inFlight: this.#underWay.size,
      // Whoever follows a dead owner sends what is delivered and not deleted again, too.
      mostInFlight: Math.max(job.settings.concurrency, this.#underWay.size) + this.#undeleted.size,
    };
  }

  /** The outbox deletes what it delivers, and marks what it gives up. */
  async beat(): Promise<void> {
    for (const id of this.#run.job.pending.slice(0, LOOKED_AT)) {
      if (!this.#run.goesOn) return;
      await this.#lookAtPending(id);
    }
  }

  /** At the end of a step: whether to halt; then the pause, then the next one. */
  #endStep(): void {
    const { settings, step, errors } = this.#run.job;
    if (!isSettled(settings.ramp, step)) {
      this.#stepAt = 0;
      return;
    }
    const now = this.#run.parts.clock.monotonic();
    if (this.#stepAt === 0) {
      const verdict = afterStep(step, settings.halt);
      if (verdict !== undefined) return this.#run.halt(verdict, errors.at(-1)?.error);
      this.#stepAt = now + settings.rampPauseMs;
    }
    if (now < this.#stepAt) return;
    this.#stepAt = 0;
    this.#run.job = { ...this.#run.job, step: nextStep(step) };
    this.#run.checkpoint();
  }

  #fill(lane: Lane): void {
    if (lane.rests) return;
    lane.reader.fill(this.#run.cut)?.then(
      () => this.#changed.resolve(),
      () => lane.rest("the DLQ store could not be read"),
    );
  }

  /** One from which an entry may be taken now, each in its turn: no lane waits for another. */
  #laneToTake(): Lane | undefined {
    const { settings, step, pending } = this.#run.job;
    const inFlight = this.#underWay.size;
    if (!this.#run.hold.isSure || inFlight >= settings.concurrency) return undefined;
    if (!mayBegin(settings.ramp, step, inFlight)) return undefined;
    if (pending.length >= MAX_PENDING || this.#ahead.size >= MAX_AHEAD) return undefined;
    const ready = this.#lanes.filter(({ isEnded, standing }) => !isEnded && standing.kind === "ready").length;
    const share = Math.ceil(settings.concurrency / Math.max(1, ready));
    for (const _ of this.#lanes) {
      const lane = this.#lanes[this.#nextLane++ % this.#lanes.length];
      if (lane !== undefined && lane.inFlight < share && lane.mayTake) return lane;
    }
    return undefined;
  }

  /** Whether there is nothing more to do here: everything is done, or every lane waits. */
  #isFinished(): boolean {
    const open = this.#lanes.filter(({ isEnded }) => !isEnded);
    if (open.length === 0) {
      if (this.#run.job.pending.length > 0) return false;
      this.#run.complete();
      return true;
    }
    const why = open.map(({ standing }) => (standing.kind === "waits" ? standing.why : undefined));
    if (why.includes(undefined)) return false;
    this.#run.wait(why[0] ?? "");
    return true;
  }

  /** Waits for leave by the rate; false when something else came first. */
  async #turn(): Promise<boolean> {
    this.#interrupt = new AbortController();
    try {
      await this.#rate.take(this.#interrupt.signal);
      return true;
    } catch {
      return false;
    }
  }

  #begin(lane: Lane): void {
    const head = lane.reader.take();
    if (head === undefined) return;
    lane.inFlight++;
    const attempt = this.#carry(lane, head)
      .then((outcome) => this.#ended(lane, head, outcome))
      .finally(() => {
        lane.inFlight--;
        this.#underWay.delete(attempt);
        this.#changed.resolve();
      });
    this.#underWay.add(attempt);
  }

  async #carry(lane: Lane, head: DeadLetterHead): Promise<ReplayOutcome> {
    const { busy, logger } = this.#run.parts;
    if (this.#run.job.pending.includes(head.id)) return { kind: "pending" };
    if (busy.has(head.id)) return back("an entry is being redriven already");
    busy.add(head.id);
    let turn: Turn | undefined;
    try {
      const context = this.#context();
      const fetching = fetchEntry(context, head);
      // They queue up in their order, whichever of them is fetched first.
      const entering = this.#entering.then(async () => this.#queueUp(lane, await fetching));
      this.#entering = entering;
      turn = await entering;
      const entry = await fetching;
      if ("kind" in entry) return entry;
      if (turn !== undefined) await turn.ready;
      if (lane.rests || !this.#run.goesOn || !this.#run.hold.isSure) return back("one before it is tried again");
      return await replayEntry(context, entry);
    } catch (thrown) {
      logger.error("an entry of a job could not be handled: it is tried again", {
        job_id: this.#run.job.id,
        entry_id: head.id,
        error: thrown instanceof Error ? thrown.message : String(thrown),
      });
      return { ...back("it could not be handled"), inDoubt: true };
    } finally {
      turn?.leave();
      busy.delete(head.id);
    }
  }

  #queueUp({ routeId }: Lane, entry: DeadLetter | ReplayOutcome): Turn | undefined {
    const key = "kind" in entry ? undefined : orderingKey(entry.envelope);
    return key === undefined ? undefined : this.#order.enter(JSON.stringify([routeId, key]));
  }

  #context(): ReplayContext {
    const { parts, store, job, cut } = this.#run;
    const { clock, logger, delivered } = parts;
    // A process that stood still may have lost its job by the time that the route has room for the entry.
    const isMine = (): boolean => this.#run.goesOn && this.#run.hold.isSure;
    const replay: ReplayContext["replay"] = (entry, signal, of) =>
      parts.replay(entry, signal, { ...of, mayBegin: isMine });
    return { clock, logger, replay, delivered, store, job, signal: cut };
  }

  #ended(lane: Lane, head: DeadLetterHead, outcome: ReplayOutcome): void {
    switch (outcome.kind) {
      case "back":
        return this.#back(lane, head, outcome);
      case "undeleted":
        this.#undeleted.set(head.id, lane);
        return lane.giveBack(head, outcome.why);
      case "pending":
        this.#pending(head);
        break;
      case "failed":
        this.#failed(lane, head, outcome);
        break;
      case "succeeded":
      case "skipped":
        this.#count(outcome.kind, lane);
        if (outcome.kind === "succeeded") this.#attempted(false);
    }
    this.#doubts.delete(head.id);
    this.#undeleted.delete(head.id);
    lane.reader.settle(head);
    for (const [id, { reader }] of this.#ahead) if (reader.isPassed(id)) this.#ahead.delete(id);
  }

  #back(lane: Lane, head: DeadLetterHead, { why, inDoubt }: Back): void {
    lane.giveBack(head, why);
    if (!inDoubt) return;
    this.#doubt(1);
    const doubts = (this.#doubts.get(head.id) ?? 0) + 1;
    this.#doubts.set(head.id, doubts);
    // It may have been sent each time: an operator has to look.
    if (doubts > MAX_DOUBTS) this.#run.halt({ why: "failure_ratio", failed: doubts, attempts: doubts }, why);
  }

  #doubt(count: number): void {
    const { job } = this.#run;
    this.#run.job = { ...job, counts: { ...job.counts, inDoubt: job.counts.inDoubt + count } };
    this.#run.tally("in_doubt", count);
  }

  /** The job goes out of hand: what is there then is sent again by whoever goes on with it, in another process. */
  async #deleteDelivered(): Promise<void> {
    const { parts, store } = this.#run;
    using limit = deadline(parts.clock, DELETE_TIMEOUT_MS, new Error("the DLQ store did not answer"));
    const ids = [...this.#undeleted.keys()];
    const gone = await deleteDelivered({ store, delivered: parts.delivered, ids }, limit.signal);
    for (const id of gone) this.#count("succeeded", this.#undeleted.get(id));
    this.#doubt(ids.length - gone.size);
    this.#undeleted.clear();
  }

  #pending({ id }: DeadLetterHead): void {
    const { job } = this.#run;
    if (job.pending.includes(id)) return;
    this.#run.job = { ...job, pending: [...job.pending, id] };
    this.#attempted(true, "the message is still pending in the outbox");
  }

  #failed(lane: Lane, head: DeadLetterHead, { failure, before }: Failed): void {
    if (!this.#counted.delete(head.id)) {
      this.#countFailure(lane, head, failure);
      if (!before) this.#attempted(true, failure.error);
    }
    this.#ahead.set(head.id, lane);
  }

  #countFailure(lane: Lane | undefined, head: FailedEntry, failure: ReplayFailure): void {
    this.#count("failed", lane);
    const { job } = this.#run;
    this.#run.job = { ...job, errors: withFailure(job.errors, groupOf(head, failure)) };
  }

  #count(outcome: "succeeded" | "failed" | "skipped", lane: Lane | undefined): void {
    const { job } = this.#run;
    if (lane !== undefined) lane.done++;
    if (lane !== undefined && outcome === "failed") lane.failed++;
    this.#run.job = { ...job, counts: { ...job.counts, [outcome]: job.counts[outcome] + 1 } };
    this.#run.tally(outcome, 1);
  }

  /** An attempt has ended: it counts for the step and for halting. */
  #attempted(hasFailed: boolean, error?: string): void {
    const { job } = this.#run;
    const failed = job.step.failed + (hasFailed ? 1 : 0);
    this.#run.job = { ...job, step: { ...job.step, done: job.step.done + 1, failed } };
    const verdict = this.#watch.after(hasFailed, job.settings.halt);
    if (verdict !== undefined) this.#run.halt(verdict, error);
  }

  /** Of one that went into the outbox: gone when it was delivered, marked when it was given up. */
  async #lookAtPending(id: string): Promise<void> {
    const { parts } = this.#run;
    if (parts.busy.has(id)) return;
    parts.busy.add(id);
    try {
      const context = this.#context();
      const entry = await fetchEntry(context, { id });
      if ("kind" in entry) {
        const of = entry.kind === "failed" ? entry.of : undefined;
        return this.#noLongerPending(id, entry.kind === "skipped" ? { kind: "succeeded" } : entry, of);
      }
      // Nothing is sent while it is in the outbox, and what that has delivered is only deleted.
      if (parts.standing(entry.routeId).kind === "ready")
        this.#noLongerPending(id, await replayEntry(context, entry), entry);
    } finally {
      parts.busy.delete(id);
    }
  }

  #noLongerPending(id: string, outcome: ReplayOutcome, entry?: DeadLetter): void {
    const { job } = this.#run;
    const others = job.pending.filter((other) => other !== id);
    const stays = outcome.kind === "pending" || outcome.kind === "back" || outcome.kind === "undeleted";
    // Others are looked at first the next time.
    this.#run.job = { ...job, pending: stays ? [...others, id] : others };
    if (stays) return;
    const lane = this.#lanes.find(({ routeId }) => routeId === entry?.routeId) ?? this.#lanes[0];
    if (outcome.kind === "failed") {
      this.#countFailure(lane, entry ?? { id, routeId: lane?.routeId ?? "", bindingId: "" }, outcome.failure);
      if (entry !== undefined) this.#countedAhead(entry);
    } else this.#count(outcome.kind, lane);
  }

  /** It has failed and is counted: its lane is not to count it again when it comes there, in this process or in the next. */
  #countedAhead(entry: DeadLetter): void {
    const lane = this.#lanes.find(({ routeId }) => routeId === entry.routeId);
    if (lane === undefined) return;
    const { reader } = lane;
    if (!reader.isPassed(entry.id)) this.#ahead.set(entry.id, lane);
    else if (reader.cursor === undefined || isBehind(entry, reader.cursor)) this.#counted.add(entry.id);
  }

  #laneOf(lane: JobLane): Lane {
    const { job, store, parts } = this.#run;
    const query = { ...setQuery(job), routeId: lane.routeId };
    const reader = new LaneReader({ store, query, cursor: lane.cursor, until: job.until });
    return new Lane(lane, { reader, clock: parts.clock, standing: parts.standing });
  }

  async #change(): Promise<void> {
    const changed = (this.#changed = Promise.withResolvers());
    const stop = new AbortController();
    const pause = this.#run.parts.clock.delay(LOOK_MS, stop.signal).catch(() => {});
    await Promise.race([changed.promise, pause]);
    stop.abort();
  }
}

type FailedEntry = Pick<DeadLetterHead, "id" | "routeId" | "bindingId">;

function back(why: string): Back {
  return { kind: "back", why, inDoubt: false };
}

function groupOf(
  { id, routeId, bindingId }: FailedEntry,
  { code, error }: ReplayFailure,
): Parameters<typeof withFailure>[1] {
  return { id, code, error, fingerprint: fingerprintOf({ routeId, bindingId, errorCode: code, lastError: error }) };
}

function limitOf({ settings: { rate } }: Job): { readonly messagesPerSecond: number; readonly burst: number } {
  return { messagesPerSecond: rate, burst: 1 };
}
