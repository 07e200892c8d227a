import type { Clock } from "@bridge/ports";
import { RecentLegs } from "./recent-legs.ts";
import { RecentRedrives } from "./recent-redrives.ts";

/** What this process remembers of messages that it has carried, for whoever asks where one is. */
export class Recent {
  readonly legs: RecentLegs;
  readonly redrives = new RecentRedrives();

  /** Remembers no legs until it is told how many. */
  constructor(clock: Clock) {
    this.legs = new RecentLegs(clock);
  }
}
