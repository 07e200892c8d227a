import type { DeadLetterHead, DeadLetterPage, DeadLetterPosition, DeadLetterQuery, KeyedPage } from "../dlq-store.ts";
import { demandPage } from "./demand-page.ts";
import { matchesQuery } from "./matches-query.ts";

/** A page by key, from heads that are looked at in its order. The same for every store. */
export class PageOfHeads {
  readonly #query: DeadLetterQuery;
  readonly #limit: number;
  readonly #budget: number;
  readonly #entries: DeadLetterHead[] = [];
  #scanned = 0;
  #last: DeadLetterPosition | undefined;
  #more = false;

  constructor(query: DeadLetterQuery, { limit, budget }: Pick<KeyedPage, "limit" | "budget">) {
    demandPage({ limit });
    this.#query = query;
    this.#limit = limit;
    this.#budget = budget;
  }

  /** How many heads it looks at at most from here on, one behind its end included. */
  get wanted(): number {
    return this.#budget - this.#scanned + 1;
  }

  /** How many entries it still has room for. */
  get room(): number {
    return this.#limit - this.#entries.length;
  }

  /**
   * Looks at the next head, which is at `position` of the order. True when the page has ended before it: no further one is wanted.
   * Whoever has no more heads has ended it, too.
   */
  add(head: DeadLetterHead, position: DeadLetterPosition = head): boolean {
    if (this.#scanned === this.#budget) return this.#end();
    this.#scanned++;
    if (matchesQuery(head, this.#query)) {
      if (this.#entries.length === this.#limit) return this.#end();
      this.#entries.push(head);
    }
    this.#last = { failedAt: position.failedAt, id: position.id };
    return false;
  }

  /** What has been looked at comes to. */
  get page(): DeadLetterPage {
    return {
      entries: this.#entries,
      scanned: this.#scanned,
      ...(this.#more && this.#last !== undefined && { next: this.#last }),
    };
  }

  #end(): true {
    this.#more = true;
    return true;
  }
}
