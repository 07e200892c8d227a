/**
 * All who look on have one part in so many of the event loop's time, at most, for making text of what they are shown. To copy it
 * before and to write it then takes about as long: a tenth in all.
 */
const PARTS = 20;
/** Text is made for so long at once, or the rest would be long. */
const AT_ONCE_MS = 5;
/** Time in which the machine did something else is measured, too: nobody is to wait long for that. */
const MAX_REST_MS = 5_000;

/**
 * What all who look on in a process may take of its event loop. Each has the same share, by itself: one who is shown little never
 * waits because another one is shown much.
 */
export class TapShare {
  /** So many look on. */
  open = 0;

  /** How long one who has held the event loop for so long leaves it to the others. */
  restMs(tookMs: number): number {
    return Math.min(MAX_REST_MS, tookMs * (PARTS * this.open - 1));
  }

  /** How many messages may be handed over at once, where so many took so long. */
  atOnce(count: number, tookMs: number): number {
    return Math.max(1, Math.floor((AT_ONCE_MS * count) / tookMs));
  }
}
