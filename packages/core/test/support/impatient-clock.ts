import { FakeClock } from "./fake-clock.ts";

/** Each look at it takes 2 ms, so that slices have room for one step. */
export class ImpatientClock extends FakeClock {
  #looks = 0;

  override monotonic(): number {
    return super.monotonic() + 2 * this.#looks++;
  }
}
