import { FakeClock } from "./fake-clock.ts";

/** Its bounds are over as soon as nothing else can run. */
export class HastyClock extends FakeClock {
  override after(_ms: number, fire: () => void): Disposable {
    const soon = setImmediate(fire);
    return { [Symbol.dispose]: () => clearImmediate(soon) };
  }
}
