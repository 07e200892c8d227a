import type { BridgeConfig } from "@bridge/config";
import type { Clock } from "@bridge/ports";
import type { Serial } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import { GaveWay } from "./stops-waiting.ts";

/** Before an accepted change that would leave messages behind is tried again: it may leave none by then. */
const RETRY_MS = 5_000;

export interface ChangeQueueOptions {
  readonly clock: Clock;
  /** Shared with all other requests. */
  readonly requests: Serial;
  /** Whether a configuration is being brought into force right now. */
  readonly busy: () => boolean;
  readonly change: (config: BridgeConfig, signal: AbortSignal) => Promise<Answer>;
  /** Bounds changes that nobody waits for any more. */
  readonly root: AbortSignal;
  /**
   * Told of an accepted change that failed, and whether that was a retry; and with `undefined` once a change is taken,
   * whether it had been accepted before or not.
   */
  readonly refused: (error: unknown, isRetry?: boolean) => void;
}

interface Change {
  readonly config: BridgeConfig;
  /** Of all that were given, which one it is: the newest has the highest. */
  readonly nth: number;
  /** Whoever has brought it was told that there is nothing more to do. */
  readonly isAccepted: boolean;
  /** It was tried before, and would have left messages behind. */
  readonly isRetry: boolean;
}

type Answer = "applied" | "accepted";

/**
 * Configurations on their way into force: one at a time, and of those that wait only the newest. An accepted one that
 * was skipped has its turn when what came after it fails; one that is taken ends all that came before it.
 */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  #given = 0;
  /** Of the changes that wait for their turn, or have it. */
  #newest: Change | undefined;
  /** The last accepted change that had no turn, since a newer one came. */
  #skipped: Change | undefined;
  /** The newest accepted change that would have left messages behind, and waits for a retry; `timer` ends its wait. */
  #retry: { readonly change: Change; readonly timer: AbortController } | undefined;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
  }

  async apply(config: BridgeConfig, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const change = { config, nth: ++this.#given, isAccepted: false, isRetry: false };
    if (!this.#options.busy()) return this.#enqueue(change, signal);
    this.#accept(change);
    return "accepted";
  }

  /** Nobody waits for its answer: the view tells what becomes of it. */
  #accept(change: Change): void {
    const { root, refused } = this.#options;
    this.#enqueue({ ...change, isAccepted: true }, root).catch((error: unknown) => refused(error, change.isRetry));
  }

  async #enqueue(change: Change, signal: AbortSignal): Promise<Answer> {
    this.#newest = change;
    const turn = Promise.withResolvers<void>();
    const onAbort = (): void => turn.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const served = this.#options.requests.run(() => {
      signal.removeEventListener("abort", onAbort);
      turn.resolve();
      return this.#serve(change, signal);
    });
    // A caller that gives up while it waits is answered at once. The turn then comes to nothing, which fails nobody.
    await turn.promise;
    const answer = await served;
    return typeof answer === "string" ? answer : answer.later;
  }

  /** `later`: the answer of one that has given way to a stop, and has its turn behind that. */
  async #serve(change: Change, signal: AbortSignal): Promise<Answer | { readonly later: Promise<Answer> }> {
    if (change !== this.#newest) {
      if (!signal.aborted) this.#skipped = change;
      return "accepted";
    }
    try {
      signal.throwIfAborted();
      const answer = await this.#options.change(change.config, signal);
      this.#taken(change);
      return answer;
    } catch (error) {
      if (error instanceof GaveWay) return this.#giveWay(change, signal);
      this.#failed(change, error);
      throw error;
    }
  }

  #taken(change: Change): void {
    this.#served(change);
    this.#skipped = undefined;
    this.#endRetry();
    this.#options.refused(undefined);
  }

  #failed(change: Change, error: unknown): void {
    const isNewest = change === this.#newest;
    this.#served(change);
    if (change.isAccepted && error instanceof OperationError && error.kind === "stranding") this.#retryLater(change);
    // It comes to nothing, so the one before it, which was accepted, has its turn after all.
    else if (isNewest) this.#acceptSkipped();
  }

  /** Unless a newer one waits to be tried again. */
  #acceptSkipped(): void {
    const change = this.#skipped;
    if (change === undefined || (this.#retry?.change.nth ?? 0) > change.nth) return;
    this.#skipped = undefined;
    this.#accept(change);
  }

  #retryLater(change: Change): void {
    const before = this.#endRetry();
    if (before !== undefined && before.nth > (this.#skipped?.nth ?? 0)) this.#skipped = before;
    const timer = new AbortController();
    this.#retry = { change: { ...change, isRetry: true }, timer };
    const { clock, root } = this.#options;
    clock.delay(RETRY_MS, AbortSignal.any([root, timer.signal])).then(
      () => this.#retryNow(timer),
      () => {},
    );
  }

  #retryNow(timer: AbortController): void {
    if (this.#retry?.timer !== timer) return;
    const { change } = this.#retry;
    this.#retry = undefined;
    // A newer one is on its way, and may be taken.
    if (this.#newest === undefined) this.#accept(change);
    else this.#retryLater(change);
  }

  /** Returns what waited to be tried again. */
  #endRetry(): Change | undefined {
    const { change, timer } = this.#retry ?? {};
    this.#retry = undefined;
    timer?.abort();
    return change;
  }

  #served(change: Change): void {
    if (this.#newest === change) this.#newest = undefined;
  }

  /** In the same turn, so that a newer one still comes behind it. */
  #giveWay(change: Change, signal: AbortSignal): Answer | { readonly later: Promise<Answer> } {
    if (change !== this.#newest) {
      this.#skipped = change;
      return "accepted";
    }
    const later = this.#enqueue(change, signal);
    later.catch(() => {});
    return { later };
  }
}
