import type { Job, JobLane } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import { Lane } from "./lane.ts";
import { LaneReader } from "./lane-reader.ts";
import { setQuery } from "./set-query.ts";

/** The lanes of a redrive that had not ended when this owner began. */
export class Lanes {
  readonly all: readonly Lane[];
  #next = 0;

  constructor(run: JobRun) {
    this.all = run.job.lanes.filter(({ ended }) => !ended).map((lane) => laneOf(lane, run));
  }

  get open(): readonly Lane[] {
    return this.all.filter(({ isEnded }) => !isEnded);
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
    const states = new Map(this.all.map((lane) => [lane.routeId, lane.state]));
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
  const reader = new LaneReader({ store, clock: parts.clock, query, cursor: lane.cursor, until: job.until });
  return new Lane(lane, { reader, clock: parts.clock, standing: parts.standing });
}
