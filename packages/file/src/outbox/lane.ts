import { LaneQueue } from "./lane-queue.ts";

/** The records of one binding of a route: their order, and how much of it is in memory. */
export class Lane {
  /** Its number in the file. */
  readonly number: number;
  readonly routeId: string;
  readonly bindingId: string;
  /** Whether it is in the file; it gets there with its first record. */
  stored = false;
  /** Unfinished records. */
  depth = 0;
  queue = new LaneQueue();
  /** Every unfinished record up to this number is in the queue… */
  edge = 0;
  /** …and there is none beyond it. */
  complete = true;
  /** What the contents take that are kept in memory. */
  contentBytes = 0;

  constructor(number: number, routeId: string, bindingId: string) {
    this.number = number;
    this.routeId = routeId;
    this.bindingId = bindingId;
  }

  /** Forgets everything but what it is: the file tells it anew. */
  reset(stored: boolean, depth: number): void {
    this.stored = stored;
    this.depth = depth;
    this.queue = new LaneQueue();
    this.edge = 0;
    this.complete = depth === 0;
    this.contentBytes = 0;
  }
}
