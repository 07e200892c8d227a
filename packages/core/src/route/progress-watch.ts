import type { Clock } from "@bridge/ports";
import type { RouteProgress } from "../view/bridge-view.ts";
import {
  type Attempts,
  failureShare,
  judge,
  type Judgement,
  type Progress,
  type ProgressFacts,
} from "../view/progress.ts";
import type { DueLooks } from "./due-looks.ts";
import { Lane, type LaneSource } from "./lane.ts";

/** Looks ten times per `send_timeout`, within these bounds. */
const LOOK_MS = { least: 100, most: 1_000 } as const;

export interface ProgressWatchOptions extends Pick<ProgressFacts, "sendTimeoutMs"> {
  readonly clock: Clock;
  /** Shared by all routes. */
  readonly looks: DueLooks;
  readonly wayIn: LaneSource;
  readonly waysOut: readonly LaneSource[];
  /** Current facts beyond the lanes. */
  readonly standing: () => Pick<ProgressFacts, "obstacle" | "full">;
  /** Called when the progress changes from `from`. */
  readonly changed: (from: Progress, now: Judgement) => void;
  /** How long the oldest delivery has been unsettled, in milliseconds; 0 if there is none. */
  readonly oldestUnsettledMs: () => number;
}

/** Follows a route's progress by reading its counters: one timer per route, no cost per message. */
export class ProgressWatch implements Disposable {
  readonly #options: ProgressWatchOptions;
  readonly #wayIn: Lane;
  readonly #waysOut: readonly Lane[];
  #looking: Disposable | undefined;
  #judgement: Judgement = { progress: "idle" };
  /** Epoch milliseconds. */
  #since: number;

  constructor(options: ProgressWatchOptions) {
    const { clock, wayIn, waysOut } = options;
    const now = clock.monotonic();
    this.#options = options;
    this.#wayIn = new Lane(wayIn, now);
    this.#waysOut = waysOut.map((lane) => new Lane(lane, now));
    this.#since = clock.now();
  }

  /** Looks repeatedly until disposed. */
  begin(): void {
    const { clock, looks, sendTimeoutMs } = this.#options;
    const everyMs = Math.max(LOOK_MS.least, Math.min(LOOK_MS.most, sendTimeoutMs / 10));
    this.#looking ??= clock.every(everyMs, () => looks.due(this.#look));
  }

  [Symbol.dispose](): void {
    this.#looking?.[Symbol.dispose]();
    this.#options.looks.forget(this.#look);
  }

  read(): RouteProgress {
    this.#look();
    const { clock, oldestUnsettledMs } = this.#options;
    const now = clock.monotonic();
    // The way out counts as delivered what the way in handed on.
    const before = { ...this.#wayIn.lastMinute(now), delivered: 0 };
    const share = failureShare(this.#waysOut.map((lane) => lane.lastMinute(now)).reduce(sumOf, before));
    return {
      ...this.#judgement,
      since: this.#since,
      oldestUnsettledMs: oldestUnsettledMs(),
      ...(share !== undefined && { failureShare: share }),
    };
  }

  readonly #look = (): void => {
    const { clock, sendTimeoutMs, standing, changed } = this.#options;
    const now = clock.monotonic();
    const lanes = [this.#wayIn, ...this.#waysOut];
    for (const lane of lanes) lane.look(now);
    const judgement = judge({
      ...standing(),
      sendTimeoutMs,
      wayIn: this.#wayIn.facts(now),
      waysOut: this.#waysOut.map((lane) => lane.facts(now)),
      lively: lanes.some((lane) => lane.lively(now)),
    });
    const { progress: from } = this.#judgement;
    this.#judgement = judgement;
    if (judgement.progress === from) return;
    this.#since = clock.now();
    changed(from, judgement);
  };
}

function sumOf(a: Attempts, b: Attempts): Attempts {
  return {
    delivered: a.delivered + b.delivered,
    refused: a.refused + b.refused,
    unanswered: a.unanswered + b.unanswered,
  };
}
