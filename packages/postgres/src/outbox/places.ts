import type { OutboxPlace } from "@bridge/ports";
import { placeHash } from "./names.ts";
import { storedText } from "./stored-text.ts";

/** Configurations come and go; what is forgotten of a place is found again. */
const MAX_PLACES = 1_000;

/** A route and binding as the tables name them, and what is known here of their records. */
export interface Place {
  /** The column `place`. */
  readonly hash: Buffer;
  readonly routeId: string;
  readonly bindingId: string;
  /**
   * Nothing was there before this number when it was looked at last: claims begin there. Numbers before it may come up
   * still, of transactions that were under way then; so it is looked at again and again.
   */
  floor: number;
  /** Monotonic milliseconds. */
  lookAgainAt: number;
}

/** The places that this handle has to do with. */
export class Places {
  readonly #routes = new Map<string, Map<string, Place>>();
  #count = 0;

  of({ routeId, bindingId }: OutboxPlace): Place {
    return this.#routes.get(routeId)?.get(bindingId) ?? this.#add(routeId, bindingId);
  }

  #add(routeId: string, bindingId: string): Place {
    if (++this.#count > MAX_PLACES) {
      this.#routes.clear();
      this.#count = 1;
    }
    const place: Place = {
      hash: placeHash({ routeId, bindingId }),
      routeId: storedText(routeId),
      bindingId: storedText(bindingId),
      floor: 0,
      lookAgainAt: -Infinity,
    };
    const bindings = this.#routes.get(routeId) ?? new Map<string, Place>();
    this.#routes.set(routeId, bindings.set(bindingId, place));
    return place;
  }
}
