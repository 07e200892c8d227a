import {
  BridgeError,
  type DeadLetterHead,
  type DeadLetterPosition,
  type Facets,
  type FacetsRequest,
} from "@bridge/ports";
import { FacetTally, matchesQuery, RecentFacets, Slices } from "@bridge/ports/internal";
import { countAll, isCounted } from "./counting.ts";
import { headOf, isPossibleQuery } from "./dead-letter-row.ts";
import { type Paging, positionOf, rowsOf } from "./paging.ts";

/** Heads that are looked at when not all can be counted. */
const NEWEST = 20_000;
/** Heads of one statement. */
const CHUNK = 1_000;
/** A table that could not be counted in time is asked again after that: until then it would only be kept busy. */
const LATE_MS = 60_000;

/** Counts entries by groups: all of them, where the server does that in time, else the newest ones. */
export class PostgresFacets {
  readonly #paging: Paging;
  readonly #recent: RecentFacets;
  #lateAt = -Infinity;

  /** An answer is good for `keptMs`. */
  constructor(paging: Paging, keptMs: number) {
    this.#paging = paging;
    this.#recent = new RecentFacets(keptMs, paging.clock);
  }

  get(request: FacetsRequest, signal: AbortSignal): Promise<Facets> {
    return this.#recent.get(request, () => this.#look(request, signal), signal);
  }

  async #look(request: FacetsRequest, signal: AbortSignal): Promise<Facets> {
    if (!isPossibleQuery(request.query)) return new FacetTally(request).facets(true, () => undefined);
    const { client, clock, visibleFrom } = this.#paging;
    if (!isCounted(request) || clock.monotonic() - this.#lateAt < LATE_MS) return this.#newest(request, signal);
    try {
      return await countAll(request, client, visibleFrom(), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!BridgeError.is(error) || error.code !== "TIMEOUT") throw error;
      const newest = await this.#newest(request, signal);
      // The server answers: it was the table, and not the line.
      this.#lateAt = clock.monotonic();
      return newest;
    }
  }

  async #newest(request: FacetsRequest, signal: AbortSignal): Promise<Facets> {
    const { query } = request;
    const tally = new FacetTally<DeadLetterHead>(request);
    const slices = new Slices(this.#paging.clock);
    let [looked, after]: [number, DeadLetterPosition | undefined] = [0, undefined];
    for (;;) {
      const page = { order: "newest", after, limit: Math.min(CHUNK, NEWEST - looked + 1) } as const;
      const rows = await rowsOf(query, page, this.#paging, signal);
      for (const row of rows) {
        if (looked === NEWEST) return { ...tally.facets(false, (head) => head), counted: looked };
        looked++;
        after = positionOf(row, "newest");
        const head = headOf(row);
        const { failedAt } = head;
        if (matchesQuery(head, query))
          tally.add(head, { count: 1, oldestFailedAt: failedAt, newestFailedAt: failedAt });
        if (slices.over) await slices.next();
      }
      if (rows.length < page.limit) return tally.facets(true, (head) => head);
    }
  }
}
