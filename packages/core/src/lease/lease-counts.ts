import type { LeaseStats } from "../view/stats.ts";

/** The counters of one session's lease. */
export interface LeaseCount {
  acquisitions: number;
  losses: number;
  yields: number;
  failures: number;
}

/** Counts what happened to leases, by session. Counters never go back while the session is configured. */
export class LeaseCounts {
  readonly #counts = new Map<string, LeaseCount>();

  of(sessionId: string): LeaseCount {
    let count = this.#counts.get(sessionId);
    if (count === undefined) {
      count = { acquisitions: 0, losses: 0, yields: 0, failures: 0 };
      this.#counts.set(sessionId, count);
    }
    return count;
  }

  /** Forgets all other sessions. */
  follow(sessionIds: ReadonlySet<string>): void {
    for (const id of this.#counts.keys()) if (!sessionIds.has(id)) this.#counts.delete(id);
  }

  read(): readonly LeaseStats[] {
    return [...this.#counts].map(([sessionId, count]) => ({ sessionId, ...count }));
  }
}
