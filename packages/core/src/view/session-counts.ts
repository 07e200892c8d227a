import type { Link } from "../session/link.ts";
import type { SessionStats } from "./stats.ts";

interface Counts {
  connects: number;
  failures: number;
}

/** Adds up the links of every runtime, so that a session's counters never go back when its runtime is replaced. */
export class SessionCounts {
  readonly #past = new Map<string, Counts>();
  #current: readonly Link[] = [];

  /** From now on these are the links to read; those before them are entered for good. */
  follow(links: readonly Link[]): void {
    add(this.#past, this.#current);
    this.#current = links;
  }

  read(): readonly SessionStats[] {
    const total = new Map([...this.#past].map(([id, counts]) => [id, { ...counts }]));
    add(total, this.#current);
    return [...total].map(([sessionId, counts]) => {
      const own = this.#current.filter((link) => link.sessionId === sessionId);
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
