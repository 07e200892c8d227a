import { setImmediate } from "node:timers";
import type { Clock } from "@bridge/ports";
import { quiet } from "./quiet.ts";
import { Restlessness } from "./restlessness.ts";

interface Timer {
  at: number;
  readonly everyMs: number | undefined;
  readonly fire: () => void;
}

/** Time that passes only when a test says so. */
export class TestClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #epoch: number;
  #elapsed = 0;
  #advanced: Promise<void> = Promise.resolve();
  #looks = 0;

  /** `epoch`: the time of day at which it begins, in epoch milliseconds. */
  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  /** How often somebody has looked at it or set a timer: who is at work does. */
  get looks(): number {
    return this.#looks;
  }

  now(): number {
    this.#looks++;
    return this.#epoch + this.#elapsed;
  }

  monotonic(): number {
    this.#looks++;
    return this.#elapsed;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    this.#looks++;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        this.#timers.delete(timer);
        reject(signal.reason as Error);
      };
      const timer = this.#set(ms, undefined, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  every(ms: number, tick: () => void): Disposable {
    this.#looks++;
    const timer = this.#set(ms, ms, tick);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  after(ms: number, fire: () => void): Disposable {
    this.#looks++;
    const timer = this.#set(ms, undefined, fire);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  turn(run: () => void): void {
    this.#looks++;
    setImmediate(run);
  }

  /**
   * Lets `ms` pass: every timer fires at its time, and what it has set off runs before the next one fires. Calls go one by one.
   * @throws Error when the bridge does not come to rest, unless it `mayWork` on
   */
  async advance(ms: number, mayWork = false): Promise<void> {
    if (!(ms >= 0 && Number.isFinite(ms)))
      throw new RangeError(`advance: ${ms} is no number of milliseconds from 0 on`);
    const passed = this.#advanced.then(() => this.#pass(ms, mayWork ? undefined : new Restlessness()));
    this.#advanced = passed.catch(() => {});
    await passed;
  }

  async #pass(ms: number, restlessness: Restlessness | undefined): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      await this.#rest(restlessness);
      const next = this.#firstUntil(end);
      if (next === undefined) break;
      this.#elapsed = Math.max(this.#elapsed, next.at);
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.at = this.#elapsed + next.everyMs;
      next.fire();
    }
    this.#elapsed = end;
    await this.#rest(restlessness);
  }

  /** Until nobody is at work who might set an earlier timer. */
  async #rest(restlessness: Restlessness | undefined): Promise<void> {
    const before = this.#looks;
    if (!(await quiet(this))) restlessness?.note(this.#looks - before);
  }

  /** The first timer that is due by then. */
  #firstUntil(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  }

  #set(ms: number, everyMs: number | undefined, fire: () => void): Timer {
    const timer: Timer = { at: this.#elapsed + Math.max(everyMs === undefined ? 0 : 1, ms), everyMs, fire };
    this.#timers.add(timer);
    return timer;
  }
}
