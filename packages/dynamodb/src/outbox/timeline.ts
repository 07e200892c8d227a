import type { Clock, Random } from "@bridge/ports";

/** A clock with a name of its own, and the places that it gives out. */
export interface Timeline {
  /** What was measured under another name means nothing to one's own clock. */
  readonly name: string;
  readonly clock: Clock;
  /** A text that is greater than all those before, and usually than those of other clocks before. */
  nextPlace(): string;
}

const timelines = new WeakMap<Clock, Timeline>();

/** The timeline of a clock. Stores of one process that go by one clock share it. */
export function timelineOf(clock: Clock, random: Random): Timeline {
  let timeline = timelines.get(clock);
  if (timeline === undefined) {
    timeline = newTimeline(clock, random);
    timelines.set(clock, timeline);
  }
  return timeline;
}

function newTimeline(clock: Clock, random: Random): Timeline {
  const name = random.id();
  let last = 0;
  let count = 0;
  return {
    name,
    clock,
    nextPlace() {
      const now = Math.floor(clock.now());
      // Whoever sets the clock back does not put what is new before what is old.
      if (now > last) {
        last = now;
        count = 0;
      } else {
        count++;
      }
      return `${String(last).padStart(15, "0")}-${String(count).padStart(9, "0")}-${name}`;
    },
  };
}
