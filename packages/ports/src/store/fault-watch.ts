import { BridgeError } from "../errors.ts";
import { type Clock } from "../seams.ts";
import { type StoreHealth } from "../store-health.ts";
import { LinkedAbort } from "./linked-abort.ts";

/** A store is asked so often, however busy it is: who may read may not be let write. */
const EVERY_MS = 3_000;
/** One look; what was not answered by then has failed. */
const LOOK_MS = 5_000;

/**
 * Tries whether the store takes what it is for. `faulty`: it writes as much as a record would, and leaves nothing; else
 * something cheap will do.
 */
export type Trial = (faulty: boolean, signal: AbortSignal) => Promise<unknown>;

/**
 * Which calls failed, and why. A call that succeeds proves that its own kind works, and no other. Where there is a trial, it
 * is made every few seconds, so that a service that went away, or takes nothing more, is known within some ten seconds, and
 * so is that it is back.
 */
export class FaultWatch {
  readonly #clock: Clock;
  readonly #trial: Trial | undefined;
  readonly #over: AbortSignal;
  /** By what was tried, the last one at the end. */
  readonly #failures = new Map<string, BridgeError>();
  /** Whether a call has succeeded since the last look began. */
  #well = false;
  #looking: Promise<void> | undefined;

  /** `trial` is a call whose end is told to this watch, as that of every other. */
  constructor(clock: Clock, trial: Trial | undefined, over: AbortSignal) {
    this.#clock = clock;
    this.#trial = trial;
    this.#over = over;
    if (trial === undefined || over.aborted) return;
    const looks = clock.every(EVERY_MS, () => void this.look());
    over.addEventListener("abort", () => looks[Symbol.dispose](), { once: true });
  }

  succeeded(what: string): void {
    this.#failures.delete(what);
    this.#well = true;
  }

  failed(what: string, failure: BridgeError): void {
    this.#failures.delete(what);
    this.#failures.set(what, failure);
  }

  /** What the last call failed with that has not succeeded since. */
  get failure(): BridgeError | undefined {
    return [...this.#failures.values()].at(-1);
  }

  health(): StoreHealth {
    const { failure } = this;
    return { ...(failure !== undefined && { fault: failure.message }), setAside: [] };
  }

  /** Makes a trial at once, unless one is under way. Resolves when {@link health} tells what came of it: in some seconds at most. */
  look(): Promise<void> {
    const trial = this.#trial;
    if (trial === undefined || this.#over.aborted) return Promise.resolve();
    this.#looking ??= this.#look(trial).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(trial: Trial): Promise<void> {
    const before = [...this.#failures];
    using look = new LinkedAbort(this.#over);
    using done = new LinkedAbort(this.#over);
    const late = new BridgeError("TIMEOUT", "no answer to the question whether it works", { charged: false });
    this.#clock.delay(LOOK_MS, done.signal).then(
      () => look.abort(late),
      () => {},
    );
    this.#well = false;
    try {
      await trial(before.length > 0, look.signal);
      // What has failed meanwhile may have failed after that.
      for (const [what, failure] of before) if (this.#failures.get(what) === failure) this.#failures.delete(what);
    } catch {
      // Without its turn, behind calls that get no answer, the trial has not told anything itself.
      const silent = look.signal.reason === late && this.#failures.size === 0 && !this.#well;
      if (silent) this.failed("looking", late);
    } finally {
      done.abort(new Error("done"));
    }
  }
}
