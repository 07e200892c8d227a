import { systemClock } from "@bridge/ports";
import { EventHeap, type TimedEvent } from "./event-heap.ts";

/** After this many turns at one moment, somebody never rests. */
const MOST_TURNS = 200_000;

/** The owner of timers and turns. After its death none of them runs. */
export interface Owner {
  readonly name?: string;
  alive: boolean;
  /** Timers that are set, and turns that are asked for. */
  pending: number;
  /** While it stands still: the events that wait for it. */
  frozen?: (() => void)[] | undefined;
  /** The time of day, as it shows it. */
  wall?: () => number;
  /** When it last resumed after a standstill. */
  thawedAt?: number;
  /** Whether an operator has paused its route. */
  paused?: boolean;
  /** Until when what it sends to an edge, or what an edge sends to it, does not get through: by `edge >` and `edge <`. */
  readonly blocked?: Map<string, number>;
}

/** Of what leaves now: when the way to or from an edge is open again. */
export function openAgain({ blocked }: Owner, edge: string, way: ">" | "<"): number {
  return blocked?.get(`${edge} ${way}`) ?? 0;
}

/** The time of a simulated world, in milliseconds from 0. It passes only when everybody waits for it. */
export class VirtualTime {
  readonly #events = new EventHeap();
  #turns: (() => void)[] = [];
  #now = 0;
  #order = 0;

  get now(): number {
    return this.#now;
  }

  /** Runs something at a time, or as soon as possible when that is past. */
  at(time: number, run: () => void, owner?: Owner): Disposable {
    const event: TimedEvent = { at: Math.max(time, this.#now), order: this.#order++, run: undefined };
    const end = (): void => {
      if (event.run === undefined) return;
      event.run = undefined;
      if (owner !== undefined) owner.pending--;
    };
    event.run = () => {
      if (owner?.frozen !== undefined) {
        owner.frozen.push(() => event.run?.());
        return;
      }
      end();
      if (owner?.alive !== false) run();
    };
    if (owner !== undefined) owner.pending++;
    this.#events.add(event);
    return { [Symbol.dispose]: end };
  }

  /** Something reaches an instance at a time, unless it is dead by then; if it stands still, it gets it afterwards. */
  reach(owner: Owner, time: number, run: () => void): void {
    this.at(time, () => {
      if (!owner.alive) return;
      if (owner.frozen === undefined) run();
      else owner.frozen.push(run);
    });
  }

  /** It stands still: nothing reaches it, and nothing is due. */
  freeze(owner: Owner): void {
    owner.frozen ??= [];
  }

  /** It goes on with all that has come meanwhile, one after another. */
  thaw(owner: Owner): void {
    const { frozen = [] } = owner;
    owner.frozen = undefined;
    owner.thawedAt = this.#now;
    for (const run of frozen) this.reach(owner, this.#now, run);
  }

  /** Runs something in a turn of its own, before time passes. */
  turn(run: () => void, owner: Owner): void {
    owner.pending++;
    const turn = (): void => {
      if (owner.frozen !== undefined) {
        owner.frozen.push(turn);
        return;
      }
      owner.pending--;
      if (owner.alive) run();
    };
    this.#turns.push(turn);
  }

  /**
   * Lets time pass until `enough`, which is asked whenever everybody waits, or until `end`.
   * @throws Error when somebody never rests
   */
  async pass(end: number, enough: () => boolean = () => false): Promise<void> {
    for (;;) {
      await this.#quiet();
      if (enough()) return;
      const { first } = this.#events;
      if (first === undefined || first.at > end) {
        this.#now = Math.max(this.#now, end);
        return;
      }
      this.#events.removeFirst();
      if (first.run === undefined) continue;
      this.#now = first.at;
      first.run();
    }
  }

  /** A turn of the real event loop comes when no promise has anything left to do: that is how this knows. */
  async #quiet(): Promise<void> {
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      await new Promise<void>((resolve) => systemClock.turn(resolve));
      const run = this.#turns.shift();
      if (run === undefined) return;
      run();
    }
    throw new Error(`after ${MOST_TURNS} turns at ${this.#now} ms there is still something to do`);
  }
}
