import { type Clock, systemClock } from "@bridge/ports";

/** A machine's clock that a test moves: what is measured and what is read move apart. What waits passes its time at once. */
export class HandClock implements Clock {
  #monotonic: number;
  #epoch: number;

  constructor(monotonic: number, epoch: number) {
    this.#monotonic = monotonic;
    this.#epoch = epoch;
  }

  now(): number {
    return this.#epoch;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  pass(ms: number): void {
    this.#monotonic += ms;
    this.#epoch += ms;
  }

  /** Sets the time of day. */
  jump(ms: number): void {
    this.#epoch += ms;
  }

  async delay(ms: number, signal: AbortSignal): Promise<void> {
    this.pass(ms);
    await systemClock.delay(Math.min(ms, 5), signal);
  }

  every(ms: number, tick: () => void): Disposable {
    return systemClock.every(ms, tick);
  }

  after(ms: number, fire: () => void): Disposable {
    return systemClock.after(ms, fire);
  }

  turn(run: () => void): void {
    systemClock.turn(run);
  }
}
