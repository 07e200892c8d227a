import type { DeadLetter, DeadLetterHead } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { RateLimiter } from "../control/rate-limiter.ts";
import { DELETE_TIMEOUT_MS } from "../dlq/attempt.ts";
import { deleteDelivered } from "../dlq/delete-delivered.ts";
import { orderingKey } from "../route/identity.ts";
import { KeyedOrder, type Turn } from "../route/keyed-order.ts";
import { FailedAhead } from "./failed-ahead.ts";
import { afterStep } from "./halt.ts";
import { doneOf, type Job, type JobLane } from "./job.ts";
import type { JobRun, JobWork } from "./job-run.ts";
import { Lane } from "./lane.ts";
import { LaneReader } from "./lane-reader.ts";
import { PendingEntries } from "./pending-entries.ts";
import { isSettled, mayBegin, nextStep } from "./ramp.ts";
import { RedriveBook } from "./redrive-book.ts";
import { fetchEntry, type ReplayContext, replayEntry, type ReplayOutcome } from "./replay-outcome.ts";
import { setQuery } from "./set-query.ts";

/** When nothing tells that something has changed, it is looked again. */
const LOOK_MS = 250;
/** Failed entries that a cursor has not passed; further ones wait. */
const MAX_AHEAD = 64;
/** An entry of which nobody can say what became of it comes again so often. */
const MAX_DOUBTS = 3;

type Back = ReplayOutcome & { readonly kind: "back" };
type Failed = ReplayOutcome & { readonly kind: "failed" };

/** Redrives the entries of a job: a lane for each route, in steps, at a rate. */
export class RedriveWork implements JobWork {
  readonly #run: JobRun;
  readonly #rate: RateLimiter;
  readonly #order = new KeyedOrder();
  readonly #book: RedriveBook;
  readonly #doubts = new Map<string, number>();
  readonly #failedAhead: FailedAhead;
  /** Delivered and not deleted, with their lanes. */
  readonly #undeleted = new Map<string, Lane>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #lanes: readonly Lane[];
  readonly #pending: PendingEntries;
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
    const book = (this.#book = new RedriveBook(run));
    const failed = (this.#failedAhead = new FailedAhead(job.ahead));
    const lanes = (this.#lanes = job.lanes.filter(({ ended }) => !ended).map((lane) => this.#laneOf(lane)));
    this.#pending = new PendingEntries({ run, book, failed, lanes, context: () => this.#context() });
  }

  async work(): Promise<void> {
    for (;;) {
      this.#run.haltIfNotWritable();
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
      ahead: this.#failedAhead.ids,
      inFlight: this.#underWay.size,
      // Whoever follows a dead owner sends what is delivered and not deleted again, too.
      mostInFlight: Math.max(job.settings.concurrency, this.#underWay.size) + this.#undeleted.size,
    };
  }

  beat(): Promise<void> {
    return this.#pending.look();
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
    const { settings, step } = this.#run.job;
    const inFlight = this.#underWay.size;
    if (!this.#run.hold.isSure || inFlight >= settings.concurrency) return undefined;
    if (!mayBegin(settings.ramp, step, inFlight + this.#pending.untold)) return undefined;
    if (this.#pending.isFull || this.#failedAhead.size >= MAX_AHEAD) return undefined;
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
    if (this.#pending.has(head.id)) return { kind: "pending", late: false };
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
        this.#pending.add(head, outcome.late);
        break;
      case "failed":
        this.#failed(lane, head, outcome);
        break;
      case "succeeded":
      case "skipped":
        this.#book.count(outcome.kind, lane);
        if (outcome.kind === "succeeded") this.#book.attempted(false);
    }
    this.#doubts.delete(head.id);
    this.#undeleted.delete(head.id);
    lane.reader.settle(head);
    this.#failedAhead.forgetPassed();
  }

  #back(lane: Lane, head: DeadLetterHead, { why, inDoubt }: Back): void {
    lane.giveBack(head, why);
    if (!inDoubt) return;
    this.#book.doubt(1);
    const doubts = (this.#doubts.get(head.id) ?? 0) + 1;
    this.#doubts.set(head.id, doubts);
    // It may have been sent each time: an operator has to look.
    if (doubts > MAX_DOUBTS) this.#run.halt({ why: "failure_ratio", failed: doubts, attempts: doubts }, why);
  }

  /** The job goes out of hand: what is there then is sent again by whoever goes on with it, in another process. */
  async #deleteDelivered(): Promise<void> {
    const { parts, store } = this.#run;
    using limit = deadline(parts.clock, DELETE_TIMEOUT_MS, new Error("the DLQ store did not answer"));
    const ids = [...this.#undeleted.keys()];
    const gone = await deleteDelivered({ store, delivered: parts.delivered, ids }, limit.signal);
    for (const id of gone) this.#book.count("succeeded", this.#undeleted.get(id));
    this.#book.doubt(ids.length - gone.size);
    this.#undeleted.clear();
  }

  #failed(lane: Lane, head: DeadLetterHead, { failure, before }: Failed): void {
    if (!this.#failedAhead.add(head.id, lane)) return;
    this.#book.countFailure(lane, head, failure);
    if (!before) this.#book.attempted(true, failure.error);
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

function back(why: string): Back {
  return { kind: "back", why, inDoubt: false };
}

function limitOf({ settings: { rate } }: Job): { readonly messagesPerSecond: number; readonly burst: number } {
  return { messagesPerSecond: rate, burst: 1 };
}
