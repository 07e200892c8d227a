import { orAborted } from "@bridge/ports/internal";
import type { Term } from "./term.ts";

/** The lease of one exclusive session, as the rest of the engine sees it. Only its keeper and its links change it. */
export class Lease {
  readonly sessionId: string;
  /** `<bridge.id>/<session id>`: the same in all instances. */
  readonly key: string;
  #term: Term | undefined;
  #taken = Promise.withResolvers<Term>();
  #elsewhere = false;
  #left = () => {};
  #connections = 0;
  #connects = 0;

  constructor(sessionId: string, key: string) {
    this.sessionId = sessionId;
    this.key = key;
  }

  /**
   * The term, while this instance holds the lease or has not noticed yet that it ran out: check the term before acting
   * under it.
   */
  get term(): Term | undefined {
    return this.#term?.ended === true ? undefined : this.#term;
  }

  /**
   * Whether it is held now, by this machine's clocks. Ends a term that has run out: after a standstill no timer may
   * have done so yet.
   */
  get held(): boolean {
    return this.term?.live === true;
  }

  /** Whether another instance was seen to hold it and to be alive. */
  get elsewhere(): boolean {
    return this.#elsewhere;
  }

  /** How many links are connected under it. */
  get connections(): number {
    return this.#connections;
  }

  /** How often a link under it has connected. */
  get connects(): number {
    return this.#connects;
  }

  /** Resolves with the term once the lease is held; rejects with the signal's reason. */
  async whenHeld(signal: AbortSignal): Promise<Term> {
    for (;;) {
      const { term } = this;
      if (term !== undefined) return term;
      await orAborted(this.#taken.promise, signal);
    }
  }

  taken(term: Term): void {
    this.#term = term;
    this.#elsewhere = false;
    term.signal.addEventListener("abort", () => (this.#taken = Promise.withResolvers()), { once: true });
    this.#taken.resolve(term);
  }

  /** A link under it has connected. */
  connected(): void {
    this.#connections++;
    this.#connects++;
  }

  /** A connected link under it has disconnected. */
  disconnected(): void {
    this.#connections--;
  }

  seenElsewhere(elsewhere: boolean): void {
    const isNews = elsewhere && (!this.#elsewhere || this.#term !== undefined);
    this.#elsewhere = elsewhere;
    if (!isNews) return;
    this.#term = undefined;
    this.#left();
  }

  /** Calls `left` each time another instance is seen to have taken the lease. */
  onLeft(left: () => void): void {
    this.#left = left;
  }
}
