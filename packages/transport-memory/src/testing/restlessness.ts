import { MOST_LOOKS } from "./quiet.ts";

/** So often somebody may be at work still when the next timer is due: after that it is taken for endless. */
const MOST_TIMES = 100;

/** Bounds one passing of time in which the bridge never comes to rest, as with a source that yields on and on. */
export class Restlessness {
  #times = 0;
  #looks = 0;

  /** It did not come to rest, and has looked at the clock so often meanwhile. @throws Error when that has been often enough */
  note(looks: number): void {
    this.#times++;
    this.#looks += looks;
    if (this.#times < MOST_TIMES && this.#looks < MOST_LOOKS) return;
    throw new Error(
      "advance: the bridge is at work without end, so time cannot pass: a source that yields on and on has to end, or to wait for something",
    );
  }
}
