/** How a route gets on. */
export const PROGRESS = ["moving", "idle", "waiting", "stalled", "failing"] as const;
export type Progress = (typeof PROGRESS)[number];

/** So many times its `send_timeout` a route may be at work before nothing coming of it is a standstill. */
const STANDSTILL = 2;
/** One failure may be the fault of its message; of so many, with nothing delivered in between, the target is to be looked at. */
export const FAILURES = 2;
/** A failure that nothing has followed is news for so long. */
export const NEWS_MS = 60_000;

/** Attempts that ended, by how. */
export interface Attempts {
  readonly delivered: number;
  /** Failures of any other kind than silence. */
  readonly refused: number;
  /** Given up at `send_timeout`. */
  readonly unanswered: number;
}

/** One part of a route's work. */
export interface LaneFacts {
  /** What to call it. */
  readonly name: string;
  /** How much of it has not ended. */
  readonly work: number;
  /** How long nothing has ended although there was work. */
  readonly quietMs: number;
  /** How long nothing was delivered although there was something to deliver; what lies between two failures counts in any case. */
  readonly undeliveredMs: number;
  /** How long of that there was work. */
  readonly workedMs: number;
  /** The last failure, if nothing was delivered after it, and how many attempts have failed since the last delivery. */
  readonly failure:
    | { readonly code: string; readonly error: string; readonly agoMs: number; readonly times: number }
    | undefined;
  /** Of the ten seconds before the last attempt ended; of those before, if most were refused and nothing was delivered since. */
  readonly recent: Attempts;
  /** Whether messages wait for their turn under a rate limit. */
  readonly limited: boolean;
}

/** What a route's progress is judged from. */
export interface ProgressFacts {
  readonly sendTimeoutMs: number;
  /** Without which nothing can go through, in words: a pause, a lease, a link, a store. */
  readonly obstacle: string | undefined;
  /** Why nothing more is taken in, in words, while the rest may go on: an outbox that is full, or takes nothing. */
  readonly full: string | undefined;
  /** From the source to a binding, or into the outbox. */
  readonly wayIn: LaneFacts;
  /** To each binding. */
  readonly waysOut: readonly LaneFacts[];
  /** Whether something has ended in the last seconds. */
  readonly lively: boolean;
}

export interface Judgement {
  readonly progress: Progress;
  /** In words; absent when the route is moving or idle. */
  readonly reason?: string;
}

const GRAVITY: readonly Progress[] = ["stalled", "failing", "waiting"];

/**
 * A pure function of facts. What stands in the way comes first, because all else follows from it; so does a way out
 * before the way in. What has filled the outbox is the reason, and that it is full comes after that, because it keeps the
 * bridge from being ready.
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

/** Of attempts, the share that failed; `undefined` without any. */
export function failureShare({ delivered, refused, unanswered }: Attempts): number | undefined {
  const all = delivered + refused + unanswered;
  return all === 0 ? undefined : (refused + unanswered) / all;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
