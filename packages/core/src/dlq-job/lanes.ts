import { doneOf, type Job, type JobLane } from "./job.ts";
import type { LaneStanding } from "./job-parts.ts";
import type { JobRun } from "./job-run.ts";
import { Lane } from "./lane.ts";
import { LaneReader, type PageFilter } from "./lane-reader.ts";
import { isPlanned } from "./planned-entry.ts";
import { setQuery } from "./set-query.ts";
import { straysOf } from "./stray-entries.ts";

/** The lanes of a redrive that had not ended when this owner began, and in the end one for what they have not met. */
export class Lanes {
  readonly #run: JobRun;
  /** Those who hold it see what comes into it. */
  readonly #all: Lane[];
  #next = 0;

  constructor(run: JobRun) {
    this.#run = run;
    this.#all = run.job.lanes.filter(({ ended }) => !ended).map((lane) => laneOf(lane, run));
  }

  get all(): readonly Lane[] {
    return this.#all;
  }

  get open(): readonly Lane[] {
    return this.all.filter(({ isEnded }) => !isEnded);
  }

  /**
   * A store may show an entry without its route, and find it under another one: somebody has changed what is written of it. When more
   * was planned than met, what is left of the whole set is looked through, once. False: there is nothing to look for.
   */
  lookForRest(): boolean {
    const { job } = this.#run;
    const isLooked = this.#all.some(({ isRest }) => isRest);
    const isMet = job.plan.exact && doneOf(job.counts) >= job.total;
    if (isLooked || isMet || job.query.routeId !== undefined) return false;
    this.#all.push(restOf(this.#run));
    return true;
  }

  /** One from which an entry may be taken now, each in its turn: no lane waits for another, nor takes more than its share. */
  toTake(concurrency: number): Lane | undefined {
    const ready = this.open.filter(({ standing }) => standing.kind === "ready").length;
    const share = Math.ceil(concurrency / Math.max(1, ready));
    for (const _ of this.all) {
      const lane = this.all[this.#next++ % this.all.length];
      if (lane !== undefined && lane.inFlight < share && lane.mayTake) return lane;
    }
    return undefined;
  }

  /** Why the first of them waits, when all that are open do. */
  get waitFor(): string | undefined {
    const why = this.open.map(({ standing }) => (standing.kind === "waits" ? standing.why : undefined));
    return why.includes(undefined) ? undefined : why[0];
  }

  /** As the document is to have them. */
  statesIn({ lanes }: Job): readonly JobLane[] {
    const routes = this.all.filter(({ isRest }) => !isRest);
    const states = new Map(routes.map((lane) => [lane.routeId, lane.state]));
    // Once it has been reset for another try, these are not its lanes any more.
    return lanes.map((lane) => {
      const state = states.get(lane.routeId);
      // More of it may be counted than was met.
      return state === undefined ? lane : { ...state, done: Math.max(state.done, lane.done) };
    });
  }
}

function laneOf(lane: JobLane, { job, store, parts }: JobRun): Lane {
  const query = { ...setQuery(job), routeId: lane.routeId };
  const only: PageFilter = async (heads) => heads.filter((head) => isPlanned(head, job));
  const reader = new LaneReader({ store, clock: parts.clock, query, cursor: lane.cursor, until: job.until, only });
  return new Lane(lane, { reader, clock: parts.clock, standing: parts.standing });
}

/** An entry that can be read goes to its route, which says whether it takes it. */
function alwaysReady(): LaneStanding {
  return { kind: "ready" };
}

function restOf({ job, store, parts }: JobRun): Lane {
  const { clock } = parts;
  const only = straysOf({ job, store, clock });
  const reader = new LaneReader({ store, clock, query: setQuery(job), cursor: undefined, until: job.until, only });
  return new Lane(
    { routeId: "", total: 0, done: 0, failed: 0, ended: false },
    { reader, clock, standing: alwaysReady, isRest: true },
  );
}
