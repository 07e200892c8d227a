import type { Clock } from "@bridge/ports";
import type { Owner, VirtualTime } from "./virtual-time.ts";

export interface InstanceClockOptions {
  readonly time: VirtualTime;
  readonly owner: Owner;
  /** Epoch milliseconds that it shows when it begins. */
  readonly epoch: number;
  /** Its rate: 1.01 gains a hundredth. */
  readonly rate: number;
  /** Where in its first half a ticker begins, 0 to 1. */
  readonly phase: () => number;
}

/** Whoever waits for what is left of a time gets on, however little it is. */
const LEAST_MS = 0.001;

/** The clock of one instance: right or wrong in its own way, and stopped when the instance is dead. */
export class InstanceClock implements Clock {
  readonly #options: InstanceClockOptions;
  readonly #began: number;
  #jumped = 0;
  /** The highest time of day that it has shown before it was set. */
  #highest = 0;
  /** How long its machine did not run, which only the time of day shows. */
  #stood = 0;

  constructor(options: InstanceClockOptions) {
    this.#options = options;
    this.#began = options.time.now;
  }

  now(): number {
    return Math.floor(this.#options.epoch + this.#jumped + this.#stood + this.monotonic());
  }

  /** The latest time of day that anybody can have read from it; what is read of a dead one's grows no more. */
  latest(): number {
    return Math.max(this.#highest, this.#options.owner.alive ? this.now() : 0);
  }

  monotonic(): number {
    const { time, rate } = this.#options;
    return rounded((time.now - this.#began) * rate - this.#stood);
  }

  /** Its machine stood still for this long. */
  stoodStill(ms: number): void {
    this.#stood += ms * this.#options.rate;
  }

  /** Sets the time of day forwards or backwards. */
  jump(ms: number): void {
    this.#highest = this.latest();
    this.#jumped += ms;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        timer[Symbol.dispose]();
        reject(signal.reason as Error);
      };
      const timer = this.after(ms, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  every(ms: number, tick: () => void): Disposable {
    const every = Math.max(1, ms);
    const fire = (): void => {
      timer = this.after(every, fire);
      tick();
    };
    let timer = this.after(every * (1 - this.#options.phase() / 2), fire);
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  after(ms: number, fire: () => void): Disposable {
    const { time, owner, rate } = this.#options;
    const stood = this.#stood;
    const dueAt = this.monotonic() + Math.max(0, ms);
    const waits = (span: number): number => (span > 0 ? Math.max(LEAST_MS, rounded(span / rate)) : 0);
    const due = (): void => {
      // Timers stand still with the machine.
      const missing = this.#stood === stood ? 0 : dueAt - this.monotonic();
      if (missing > 0) timer = this.after(missing, fire);
      else fire();
    };
    let timer = time.at(time.now + waits(ms), due, owner);
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  turn(run: () => void): void {
    this.#options.time.turn(run, this.#options.owner);
  }
}

/** Whole microseconds, so that powers that differ in their last digit between platforms do not show. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
