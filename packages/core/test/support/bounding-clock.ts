import { FakeClock } from "./fake-clock.ts";

/** One whose bounds are over when its time is. */
export class BoundingClock extends FakeClock {
  override after(ms: number, fire: () => void): Disposable {
    const off = new AbortController();
    this.delay(ms, off.signal).then(fire, () => {});
    return { [Symbol.dispose]: () => off.abort() };
  }
}
