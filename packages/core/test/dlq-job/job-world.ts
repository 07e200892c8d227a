import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type Processor } from "@bridge/ports";
import { sealJob } from "@bridge/ports/internal";
import { memoryHub } from "@bridge/transport-memory";
import { doneOf, isOver, type Job, type JobCall, JOB_STATES, type JobState } from "../../src/dlq-job/job.ts";
import { JobRefusal } from "../../src/dlq-job/job-refusal.ts";
import { comingState, MAY_FOLLOW } from "../../src/dlq-job/job-state.ts";
import type { JobOrder, Jobs } from "../../src/dlq-job/jobs.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, refusal } from "../support/memory-bridge.ts";
import { entryOf, orderOf, started } from "./job-bridge.ts";
import { TABLE, UNDO } from "./job-table.ts";
import { seenDlq } from "./seen-dlq.ts";

const HOUR = 3_600_000;
const AWAY = "the store is away";

/** A bridge, its dead letters, their target, and all that may happen to them. What is said of jobs is held against the tables. */
export class JobWorld {
  readonly clock = new FakeClock();
  readonly hub = memoryHub();
  readonly dlq = openMemoryDlq({ maxEntries: 10_000, clock: this.clock });
  readonly ids: string[] = [];
  /** Every state that some job was seen in. */
  readonly states = new Set<JobState>();
  isBroken = false;
  isAway = false;
  /** Nothing comes out of the trash. */
  isTrashStuck = false;
  kills = 0;
  /** Something was erased for good. */
  #isErased = false;
  #bridge: MemoryBridge | undefined;
  #isStopped = false;
  #entries = 0;
  readonly #last = new Map<string, JobState>();

  async open(): Promise<void> {
    let isDead = false;
    const dlq = seenDlq(this.dlq, (name) => {
      const isStuck = this.isTrashStuck && name === "admin.trash.restore";
      if (isDead || this.isAway || isStuck) throw new BridgeError("CONNECTION_LOST", AWAY);
    });
    this.#kill = () => (isDead = true);
    const target: Processor = {
      process: async (envelope) => {
        if (this.isBroken) throw refusal;
        return { kind: "pass", envelope };
      },
    };
    this.#bridge = await started({ clock: this.clock, hub: this.hub, dlq, processors: [target] });
    this.#isStopped = false;
  }

  #kill: () => void = () => {};

  get bridge(): MemoryBridge {
    if (this.#bridge === undefined) throw new Error("it has not been opened");
    return this.#bridge;
  }

  get jobs(): Jobs {
    return this.bridge.supervisor.jobs();
  }

  /** Which message came how often. */
  get arrivals(): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    for (const { subject } of this.hub.channel("out").messages()) times.set(subject, (times.get(subject) ?? 0) + 1);
    return times;
  }

  async fail(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) {
      const entry = entryOf(this.#entries++, { failedAt: this.clock.now() });
      await this.dlq.put(entry, bound());
    }
  }

  async plan(kind: Job["kind"], changes: Partial<JobOrder>): Promise<void> {
    if (this.isAway || this.ids.length >= 4) return;
    const { job } = await this.jobs.plan(orderOf({ kind, ...changes }), bound());
    this.ids.push(job.id);
  }

  /** A call of a job is answered as the tables have it. */
  async call(nth: number, call: JobCall, retryFailed = false): Promise<void> {
    const id = this.ids[nth % this.ids.length];
    if (id === undefined || this.isAway) return;
    await this.settle();
    const before = await this.jobs.get(id, bound());
    const expected = await this.#expected(before, call);
    const told = await this.#told(before, call, retryFailed);
    if (told !== expected)
      throw new Error(`${call} of a ${before.kind} that is ${before.state}: ${told}, not ${expected}`);
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#passing(this.bridge.supervisor.stop(bound()));
  }

  async start(): Promise<void> {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    await this.#passing(this.bridge.supervisor.start(bound()));
  }

  async kill(): Promise<void> {
    if (this.kills >= 3) return;
    this.kills++;
    this.#kill();
    await this.open();
  }

  /** So long that plans expire, and what was purged is erased. */
  async hours(): Promise<void> {
    this.#isErased = true;
    this.clock.skip(HOUR);
    await this.pass(4_000);
  }

  /** A newer release has written over a document. */
  async spoil(nth: number): Promise<void> {
    const id = this.ids[nth % this.ids.length];
    const stored = id === undefined ? undefined : await this.dlq.jobs.get(id, bound());
    if (stored === undefined) return;
    const next = { ...stored, revision: stored.revision + 1 };
    await this.dlq.jobs.put({ ...next, document: sealJob(next, '{"v":99}') }, stored.revision, bound());
    this.#last.set(stored.id, "failed");
    // What such a purge has thrown away cannot be taken back.
    this.#isErased = true;
    // Whoever works on it learns that when it writes the next time.
    await this.clock.advance(1_500);
  }

  /** Of jobs that stand still nothing goes on, however long that takes. */
  async pass(ms: number): Promise<void> {
    await this.settle();
    const still = this.isAway ? undefined : (await this.#all()).every(standsStill);
    const { arrived } = this.hub.channel("out");
    await this.clock.advance(ms);
    if (still === true && this.hub.channel("out").arrived !== arrived)
      throw new Error("something was delivered for jobs that stand still");
    await this.check();
  }

  /** Lets everything run that needs no time. */
  async settle(): Promise<void> {
    let before = "";
    for (let step = 0; step < 200; step++) {
      for (let turns = 0; turns < 4; turns++) await this.clock.advance(0);
      const now = JSON.stringify(await this.dlq.jobs.list({ limit: 100 }, bound()));
      if (now === before) return;
      before = now;
    }
  }

  /** What holds at any time. */
  async check(): Promise<void> {
    if (this.isAway) return;
    for (const job of await this.#all()) {
      const last = this.#last.get(job.id) ?? "planned";
      if (!leadsTo(last, job.state)) throw new Error(`a job that was ${last} is ${job.state}`);
      this.#last.set(job.id, job.state);
      this.states.add(job.state);
      if (doneOf(job.counts) > job.total) throw new Error(`${doneOf(job.counts)} of ${job.total} are done`);
      if (job.state !== "failed" && isOver(job.state) !== (job.endedAt !== undefined)) throw new Error("no end");
      if (job.lanes.some(({ done, total }) => done > total)) throw new Error("more of a lane is done than it has");
      if (job.kind === "purge" && job.startedAt !== undefined && job.undoWithinMs === 0) this.#isErased = true;
    }
    const most = 1 + this.kills;
    for (const [subject, times] of this.arrivals)
      if (times > most) throw new Error(`${subject} came ${times} times after ${this.kills} kills`);
  }

  /** Everything works again, and whoever looks after jobs lets all of them end, and takes purges back: nothing is lost. */
  async finish(): Promise<void> {
    this.isAway = false;
    this.isBroken = false;
    this.isTrashStuck = false;
    await this.start();
    for (let step = 0; ; step++) {
      await this.pass(5_000);
      const open = (await this.#all()).filter(({ state }) => !isOver(state));
      if (open.length === 0) break;
      if (step > 200) throw new Error(`a job stays ${open[0]?.state}: ${open[0]?.waitingFor}`);
      for (const { id, state } of open) {
        const nth = this.ids.indexOf(id);
        if (state === "planned") await this.call(nth, "cancel");
        if (state === "paused" || state === "halted") await this.call(nth, "resume", true);
      }
    }
    for (const [nth] of this.ids.entries()) await this.call(nth, "undo");
    await this.pass(10_000);
    const arrived = this.arrivals;
    for (let nth = 0; nth < this.#entries && !this.#isErased; nth++) {
      const { id } = entryOf(nth);
      if (!arrived.has(id) && (await this.dlq.get(id, bound())) === undefined) throw new Error(`${id} is lost`);
    }
    for (const job of await this.#all()) {
      const { state, counts, total } = job;
      if (state === "completed" && doneOf(counts) !== total) throw new Error("completed, and not all is done");
      if (state === "completed" && job.lanes.some(({ done, total: all, ended }) => done !== all || !ended))
        throw new Error(`completed, and not all of its lanes: ${JSON.stringify(job.lanes)}`);
    }
    await this.#passing(this.bridge.supervisor.shutdown());
  }

  async #all(): Promise<readonly Job[]> {
    return Promise.all(this.ids.map((id) => this.jobs.get(id, bound())));
  }

  async #expected(job: Job, call: JobCall): Promise<string> {
    const at = comingState(job);
    if (call !== "undo" && call !== "start") return TABLE[call][at];
    const told = call === "start" ? TABLE.start[at] : UNDO[job.kind][at];
    if (!told.startsWith("→")) return told;
    if (call === "undo") {
      const { startedAt, undoUntil = 0 } = job;
      return startedAt !== undefined && undoUntil <= this.clock.now() ? "409 too_late" : told;
    }
    const others = (await this.#all()).filter(
      ({ id, state }) => id !== job.id && state !== "planned" && !isOver(state),
    );
    const isBusy = others.some(({ lanes }) =>
      lanes.some(({ routeId }) => job.lanes.some((lane) => lane.routeId === routeId)),
    );
    return isBusy ? "409 route_busy" : told;
  }

  async #told(before: Job, call: JobCall, retryFailed: boolean): Promise<string> {
    const { id, plan } = before;
    try {
      const after = await (call === "start"
        ? this.jobs.start(id, { planHash: plan.hash }, bound())
        : call === "change"
          ? this.jobs.change(id, { rate: before.settings.rate }, bound())
          : this.jobs.ask(id, { call, ...(call === "resume" && retryFailed && { retryFailed }) }, bound()));
      if (call === "change") return "200";
      return comingState(after) === comingState(before) ? "202" : `→ ${comingState(after)}`;
    } catch (thrown) {
      if (!(thrown instanceof JobRefusal)) throw thrown;
      return thrown.reason === "state" ? "409" : `409 ${thrown.reason}`;
    }
  }

  async #passing(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    await this.clock.until(() => isDone);
    await done;
  }
}

function standsStill({ state, requested, owner, inFlight }: Job): boolean {
  const isAtWork = state === "running" || state === "waiting" || state === "undoing";
  return !isAtWork && requested === undefined && owner === undefined && inFlight === 0;
}

/** Whether the one state comes after the other, at once or over others. */
function leadsTo(from: JobState, to: JobState, seen: ReadonlySet<JobState> = new Set()): boolean {
  if (from === to) return true;
  const further = MAY_FOLLOW[from].filter((state) => !seen.has(state));
  return further.some((state) => leadsTo(state, to, new Set([...seen, from])));
}

export const ALL_STATES: ReadonlySet<JobState> = new Set(JOB_STATES);
