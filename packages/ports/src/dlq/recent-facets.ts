import type { Facets, FacetsRequest } from "../dlq-store.ts";
import type { Clock } from "../seams.ts";
import { Slots } from "../store/slots.ts";

/** More different requests than people have pages open; the oldest answer goes. */
const MAX_ANSWERS = 16;

/**
 * Answers that are good for a while, for stores to which counting is dear. It is counted for one caller at a time: who asks for
 * the same meanwhile waits, and has that answer.
 */
export class RecentFacets {
  readonly #clock: Pick<Clock, "monotonic" | "now">;
  readonly #keptMs: number;
  readonly #turn = new Slots(1);
  readonly #answers = new Map<string, { readonly facets: Facets; readonly at: number }>();

  constructor(keptMs: number, clock: Pick<Clock, "monotonic" | "now">) {
    this.#keptMs = keptMs;
    this.#clock = clock;
  }

  async get(request: FacetsRequest, count: () => Promise<Facets>, signal: AbortSignal): Promise<Facets> {
    signal.throwIfAborted();
    const { fresh = false, ...asked } = request;
    const key = JSON.stringify(asked);
    using _ = await this.#turn.take(signal);
    const kept = this.#answers.get(key);
    if (!fresh && kept !== undefined && this.#clock.monotonic() - kept.at < this.#keptMs) return kept.facets;
    const asOf = this.#clock.now();
    const facets = { ...(await count()), asOf };
    this.#keep(key, facets);
    return facets;
  }

  #keep(key: string, facets: Facets): void {
    this.#answers.delete(key);
    this.#answers.set(key, { facets, at: this.#clock.monotonic() });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
  }
}
