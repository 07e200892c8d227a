import type { Clock, Random } from "@bridge/ports";
import type { PostgresClient } from "@bridge/postgres-kit";

/** How often an instance writes down what its clock shows. */
const BEAT_MS = 5_000;
/** Another's clock is taken to be slower than one's own by no more than this: a hold ends later rather than sooner. */
const RATE = 0.99;
/** Without a beat for so long, an instance is not expected to hear of anything. */
const SILENT_MS = 3 * BEAT_MS;

/** A clock that is never set, with a name of its own: holds are measured by it. */
interface Timeline {
  readonly name: string;
  readonly clock: Clock;
}

const timelines = new WeakMap<Clock, Timeline>();

/** Stores of one process that go by one clock share its name. */
function timelineOf(clock: Clock, random: Random): Timeline {
  const timeline = timelines.get(clock) ?? { name: random.id(), clock };
  timelines.set(clock, timeline);
  return timeline;
}

/** What was read of another's clock, and when by one's own. */
interface Sight {
  readonly reading: number;
  readonly at: number;
  /** When it was seen to move. */
  readonly movedAt: number;
}

/**
 * The clocks of all instances. Each writes down now and then what its own shows; another then knows, without a clock
 * that both share, what it shows by now at least: what was read, and the time since. So every hold can be said to be
 * over by anybody, whether the instance that has made it is still there or not, and never before its own time.
 */
export class Instances implements Disposable {
  readonly #client: PostgresClient;
  readonly #timeline: Timeline;
  readonly #sights = new Map<string, Sight>();
  readonly #beats: Disposable;
  #known = false;

  constructor(client: PostgresClient, clock: Clock, random: Random) {
    this.#client = client;
    this.#timeline = timelineOf(clock, random);
    const { signal } = new AbortController();
    let beating = false;
    this.#beats = clock.every(BEAT_MS, () => {
      if (beating) return;
      beating = true;
      // What is wrong with the server, calls tell.
      void this.#beat(signal)
        .catch(() => {})
        .finally(() => (beating = false));
    });
  }

  get name(): string {
    return this.#timeline.name;
  }

  /** Monotonic milliseconds of one's own clock. */
  get now(): number {
    return this.#timeline.clock.monotonic();
  }

  /** Whether another instance has been there lately. */
  get hasOthers(): boolean {
    const since = this.now - SILENT_MS;
    return [...this.#sights.values()].some(({ movedAt }) => movedAt > since);
  }

  /** What each clock shows by now at least, one's own among them. */
  readings(): { readonly names: string[]; readonly readings: number[] } {
    const names = [this.name];
    const readings = [this.now];
    for (const [name, sight] of this.#sights) {
      names.push(name);
      readings.push(leastNow(sight, this.now));
    }
    return { names, readings };
  }

  /** Resolves when others know of this instance's clock: before that it has nothing on loan. */
  async enter(signal: AbortSignal): Promise<void> {
    if (!this.#known) await this.#beat(signal);
  }

  [Symbol.dispose](): void {
    this.#beats[Symbol.dispose]();
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const table = this.#client.table("outbox_instance");
    const { rows } = await this.#client.query<{ name: string; reading: number }>(
      {
        what: "writing down the clock of an instance",
        text: `WITH beat AS (
            INSERT INTO ${table} AS i (name, reading) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET reading = greatest(i.reading, excluded.reading), beat_at = now()
          )
          SELECT name, reading FROM ${table} WHERE name <> $1`,
        values: [this.name, this.now],
        name: "outbox_beat",
      },
      signal,
    );
    this.#known = true;
    const { now } = this;
    const gone = new Set(this.#sights.keys());
    for (const { name, reading } of rows) {
      gone.delete(name);
      const before = this.#sights.get(name);
      if (before === undefined) this.#sights.set(name, { reading, at: now, movedAt: now });
      else if (reading > before.reading) {
        this.#sights.set(name, { reading: Math.max(reading, leastNow(before, now)), at: now, movedAt: now });
      }
    }
    for (const name of gone) this.#sights.delete(name);
  }
}

function leastNow({ reading, at }: Sight, now: number): number {
  return reading + (now - at) * RATE;
}
