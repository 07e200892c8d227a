/** The states of a route's progress. */
export const PROGRESS = ["moving", "idle", "waiting", "stalled", "failing"] as const;
export type Progress = (typeof PROGRESS)[number];

/** A route with work stands still if nothing has come of it for this many times its `send_timeout`. */
const STANDSTILL = 2;
/** A single failure may be its message's fault. After this many with no delivery in between, suspect the target. */
export const FAILURES = 2;
/** How long a failure counts as news while nothing follows it. */
export const NEWS_MS = 60_000;

/** Ended attempts, by how they ended. */
export interface Attempts {
  readonly delivered: number;
  /** Failures other than timeouts. */
  readonly refused: number;
  /** Given up at `send_timeout`. */
  readonly unanswered: number;
}

/** The facts about one part of a route's work. */
export interface LaneFacts {
  /** Its name in reasons. */
  readonly name: string;
  /** How much unfinished work there is. */
  readonly work: number;
  /** How long nothing has ended although there was work, in milliseconds. */
  readonly quietMs: number;
  /**
   * How long nothing was delivered although there was something to deliver, in milliseconds. The time between two
   * failures always counts.
   */
  readonly undeliveredMs: number;
  /** For how much of that there was work, in milliseconds. */
  readonly workedMs: number;
  /** The last failure, unless something was delivered after it, with the number of failed attempts since the last delivery. */
  readonly failure:
    | { readonly code: string; readonly error: string; readonly agoMs: number; readonly times: number }
    | undefined;
  /**
   * The attempts of the ten seconds before the last one ended; older ones if most were refused and nothing has been
   * delivered since.
   */
  readonly recent: Attempts;
  /** Whether messages wait for a turn under a rate limit. */
  readonly limited: boolean;
}

/** The facts that a route's progress is judged by. */
export interface ProgressFacts {
  readonly sendTimeoutMs: number;
  /** What blocks everything, in words: a pause, a lease, a link, a store. */
  readonly obstacle: string | undefined;
  /** Why nothing more is taken in while the rest may go on, in words: an outbox that is full or takes nothing. */
  readonly full: string | undefined;
  /** From the source to a binding, or into the outbox. */
  readonly wayIn: LaneFacts;
  /** To each binding. */
  readonly waysOut: readonly LaneFacts[];
  /** Whether anything has ended in the last ten seconds. */
  readonly lively: boolean;
}

export interface Judgement {
  readonly progress: Progress;
  /** In words; absent while the route is moving or idle. */
  readonly reason?: string;
}

const GRAVITY: readonly Progress[] = ["stalled", "failing", "waiting"];

/**
 * A pure function of facts. An obstacle comes first, because everything else follows from it, and a way out comes
 * before the way in. If a way out has filled the outbox, that is the reason; the full outbox is named after it, because
 * it keeps the bridge from being ready.
 */
export function judge(facts: ProgressFacts): Judgement {
  const { full } = facts;
  const judgement = judgeRoom(facts);
  if (full === undefined || judgement.reason === undefined || judgement.reason === full) return judgement;
  return { ...judgement, reason: `${judgement.reason}; ${full}` };
}

function judgeRoom({ obstacle, full, wayIn, waysOut, lively, ...facts }: ProgressFacts): Judgement {
  if (obstacle !== undefined) return { progress: "waiting", reason: obstacle };
  const boundMs = STANDSTILL * facts.sendTimeoutMs;
  const troubles = waysOut.flatMap((lane) => troubleOf(lane, boundMs) ?? []);
  for (const grave of GRAVITY) {
    const found = troubles.find(({ progress }) => progress === grave);
    if (found !== undefined) return found;
  }
  if (full !== undefined) return { progress: "waiting", reason: full };
  const busy = lively || [wayIn, ...waysOut].some(({ work }) => work > 0);
  return troubleOf(wayIn, boundMs) ?? { progress: busy ? "moving" : "idle" };
}

function troubleOf(lane: LaneFacts, boundMs: number): Judgement | undefined {
  const { name, work, quietMs, undeliveredMs, workedMs, failure, recent, limited } = lane;
  const standing = work > 0 && quietMs >= boundMs;
  if (failure !== undefined) {
    const isNews = failure.agoMs < NEWS_MS;
    const stalled = failure.code === "TIMEOUT" && (standing || (isNews && workedMs >= boundMs));
    const inVain = isNews && failure.times >= FAILURES && undeliveredMs >= boundMs;
    const reason = `${name}: nothing was delivered for ${seconds(undeliveredMs)}; the last failure was ${failure.code}, ${failure.error}`;
    if (stalled || standing || inVain) return { progress: stalled ? "stalled" : "failing", reason };
  }
  if (standing) {
    return limited
      ? { progress: "waiting", reason: `${name}: its rate limit` }
      : { progress: "stalled", reason: `${name}: nothing has ended for ${seconds(quietMs)}, though there is work` };
  }
  if (mostRefused(recent)) {
    const reason = `${name}: ${recent.refused} of the last ${recent.refused + recent.delivered + recent.unanswered} attempts were refused`;
    return { progress: "failing", reason: failure === undefined ? reason : `${reason}; the last with ${failure.code}` };
  }
  return undefined;
}

export function mostRefused({ delivered, refused, unanswered }: Attempts): boolean {
  return refused >= FAILURES && refused > delivered + unanswered;
}

/** The share of attempts that failed, from 0 to 1; `undefined` if there were none. */
export function failureShare({ delivered, refused, unanswered }: Attempts): number | undefined {
  const all = delivered + refused + unanswered;
  return all === 0 ? undefined : (refused + unanswered) / all;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
