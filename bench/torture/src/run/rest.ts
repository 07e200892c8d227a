import { setTimeout as sleep } from "node:timers/promises";
import type { Whereabouts } from "../auditor/judge.ts";
import type { Entry } from "../bridge/api.ts";
import type { Stage } from "./stage.ts";
import type { Reading } from "./vitals.ts";

export interface RestOptions extends Pick<Stage, "auditor"> {
  /** What moves in the bridge; `undefined` while it does not answer. */
  read(): Promise<Reading | undefined>;
  holdings(): Promise<Holdings>;
  /** As `performance.now`: patience ends there. */
  readonly until: number;
}

/** What the bridge's own stores hold. */
export interface Holdings {
  readonly where: Whereabouts;
  readonly entries: readonly Entry[];
}

/**
 * `reached`: nothing moved any more, nothing was in flight, and every accepted message was somewhere. `stuck`: nothing moved
 * any more, and yet something was in flight or missing. `late`: the time was up while things still moved.
 */
export type RestState = "reached" | "stuck" | "late";

export interface Rest {
  readonly state: RestState;
  /** Absent when the bridge did not answer. */
  readonly holdings: Holdings | undefined;
}

const LOOK_EVERY_MS = 500;
/** Repeats have this long to come in. */
const QUIET_MS = 2_500;
/** When nothing has moved for so long, what is missing does not come any more: a reader at a broker that was killed is back by then. */
const STUCK_MS = 30_000;

/** Waits until everything has come to rest, with all troubles mended and no new messages. Rejects when `signal` aborts. */
export async function waitForRest(options: RestOptions, signal: AbortSignal): Promise<Rest> {
  const { auditor, until } = options;
  let movedAt = performance.now();
  let before = "";
  for (;;) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    const [standing, reading] = [await auditor.standing(), await options.read()];
    const state = JSON.stringify([standing, reading]);
    if (state !== before) movedAt = performance.now();
    before = state;
    const quietMs = performance.now() - movedAt;
    const idle = reading?.inFlight === 0 && reading.inOutbox === 0 && standing.open === 0;
    const stuck = quietMs > STUCK_MS;
    const over = stuck || performance.now() > until;
    if (!over && !(idle && quietMs > QUIET_MS)) continue;
    const holdings = await options.holdings().catch(() => undefined);
    const found = holdings !== undefined && (await allFound(auditor, holdings.where));
    if (idle && found) return { state: "reached", holdings };
    if (over) return { state: stuck ? "stuck" : "late", holdings };
  }
}

async function allFound(auditor: Stage["auditor"], where: Whereabouts): Promise<boolean> {
  const { routes } = await auditor.judge(where);
  return routes.every(({ lost, atSource, withheld }) => lost + atSource + withheld === 0);
}

/** What the stores of one bridge hold of these routes. */
export async function holdingsOf(api: Stage["api"], routes: readonly string[], hasOutbox: boolean): Promise<Holdings> {
  const entries = (await Promise.all(routes.map((route) => api.deadLetters(route)))).flat();
  const records = hasOutbox ? (await Promise.all(routes.map((route) => api.outbox(route)))).flat() : [];
  return { entries, where: { deadLetters: entries.map(({ messageId }) => messageId), outbox: records } };
}
