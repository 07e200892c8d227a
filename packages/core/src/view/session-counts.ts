import type { BridgeConfig } from "@bridge/config";
import type { Link } from "../session/link.ts";
import type { SessionStats } from "./stats.ts";

interface Counts {
  connects: number;
  failures: number;
}

/** Adds up the counters of all links that a session has had, so that they never go back when a link is replaced. */
export class SessionCounts {
  readonly #past = new Map<string, Counts>();
  #current: readonly Link[] = [];

  /** Reads these links from now on; keeps the final counts of the former ones. */
  follow(links: readonly Link[]): void {
    const next = new Set(links);
    add(
      this.#past,
      this.#current.filter((link) => !next.has(link)),
    );
    this.#current = links;
  }

  /** Forgets the sessions that `config` lacks. */
  forget({ sessions }: BridgeConfig): void {
    const ids = new Set(sessions.map(({ id }) => id));
    for (const id of this.#past.keys()) if (!ids.has(id)) this.#past.delete(id);
  }

  read(): readonly SessionStats[] {
    const total = new Map([...this.#past].map(([id, counts]) => [id, { ...counts }]));
    add(total, this.#current);
    const linksOf = Map.groupBy(this.#current, ({ sessionId }) => sessionId);
    return [...total].map(([sessionId, counts]) => {
      const own = linksOf.get(sessionId) ?? [];
      return { sessionId, ...counts, connected: own.length > 0 && own.every((link) => link.connected) };
    });
  }
}

function add(to: Map<string, Counts>, links: readonly Link[]): void {
  for (const link of links) {
    const counts = to.get(link.sessionId) ?? { connects: 0, failures: 0 };
    counts.connects += link.connects;
    counts.failures += link.failures;
    to.set(link.sessionId, counts);
  }
}
