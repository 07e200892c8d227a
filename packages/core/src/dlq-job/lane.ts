import type { Clock, DeadLetterHead } from "@bridge/ports";
import type { JobLane } from "./job.ts";
import type { LaneStanding } from "./job-parts.ts";
import type { LaneReader } from "./lane-reader.ts";

/** How long a lane rests after something that is no failure of an entry. */
const REST_MS = 1_000;

/** The entries of one route as a job goes through them, or in the end those that no route's lane has met. */
export class Lane {
  readonly routeId: string;
  readonly reader: LaneReader;
  /** What a lane has met is counted there. */
  readonly isRest: boolean;
  readonly #clock: Clock;
  readonly #standing: (routeId: string) => LaneStanding;
  inFlight = 0;
  done: number;
  failed: number;
  #total: number;
  /** Monotonic milliseconds. */
  #restsUntil = 0;
  /** Why it rests. */
  #why: string | undefined;

  constructor(
    { routeId, done, failed, total }: JobLane,
    parts: {
      readonly reader: LaneReader;
      readonly clock: Clock;
      readonly standing: (routeId: string) => LaneStanding;
      readonly isRest?: boolean;
    },
  ) {
    this.routeId = routeId;
    this.done = done;
    this.failed = failed;
    this.#total = total;
    this.reader = parts.reader;
    this.isRest = parts.isRest ?? false;
    this.#clock = parts.clock;
    this.#standing = parts.standing;
  }

  get standing(): LaneStanding {
    return this.#standing(this.routeId);
  }

  get isEnded(): boolean {
    return this.reader.isEnded;
  }

  /** Whether it rests: what has not begun yet goes back, so that it stays in its order. */
  get rests(): boolean {
    return this.#clock.monotonic() < this.#restsUntil;
  }

  rest(why: string): void {
    this.#why = why;
    this.#restsUntil = this.#clock.monotonic() + REST_MS;
  }

  /** Whether an entry may be taken from it now. */
  get mayTake(): boolean {
    return this.reader.hasNext && !this.rests && this.standing.kind === "ready";
  }

  giveBack(head: DeadLetterHead, why: string): void {
    this.reader.giveBack(head);
    this.rest(why);
  }

  /** As the document has it. */
  get state(): JobLane {
    const { routeId, done, failed, isEnded, standing } = this;
    const waitingFor = isEnded
      ? undefined
      : standing.kind === "waits"
        ? standing.why
        : this.rests
          ? this.#why
          : undefined;
    return {
      routeId,
      total: Math.max(this.#total, done),
      done,
      failed,
      cursor: this.reader.cursor,
      ended: isEnded,
      ...(waitingFor !== undefined && { waitingFor }),
    };
  }
}
