import type { LeaseStats } from "../view/stats.ts";

/** Plain numbers of one session's lease. */
export interface LeaseCount {
  acquisitions: number;
  losses: number;
  yields: number;
  failures: number;
}

/** What leases have been through, by session; it never goes back while the session is configured. */
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

  /** Keeps only these sessions. */
  follow(sessionIds: ReadonlySet<string>): void {
    for (const id of this.#counts.keys()) if (!sessionIds.has(id)) this.#counts.delete(id);
  }

  read(): readonly LeaseStats[] {
    return [...this.#counts].map(([sessionId, count]) => ({ sessionId, ...count }));
  }
}
