import type { BridgeConfig } from "@bridge/config";
import type { Clock } from "@bridge/ports";
import type { Serial } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import { GaveWay } from "./stops-waiting.ts";

/** Before one that was accepted, and would leave messages behind, is tried again: it may leave none by then. */
const TRY_AGAIN_MS = 5_000;

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
   * Told of a change that had been accepted and failed, and whether it had been tried before; and with `undefined` once a later one is
   * taken, accepted before or not.
   */
  readonly refused: (error: unknown, again?: boolean) => void;
}

interface Change {
  readonly config: BridgeConfig;
  /** Of all that were given, which one it is: the newest has the highest. */
  readonly nth: number;
  /** Whoever has brought it was told that there is nothing more to do. */
  readonly isAccepted: boolean;
  /** It would have left messages behind. */
  readonly wasTried: boolean;
}

type Answer = "applied" | "accepted";

/**
 * Configurations on their way into force: one at a time, and of those that wait the newest. One that was accepted has its turn again when
 * what came after it fails; what is taken ends all that came before it.
 */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  #given = 0;
  /** Of those that wait for their turn, or have it. */
  #newest: Change | undefined;
  /** The last one that was accepted, and that a newer one has kept from its turn. */
  #passedOver: Change | undefined;
  /** The newest one that was accepted and would have left messages behind; `timer` ends its wait. */
  #again: { readonly change: Change; readonly timer: AbortController } | undefined;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
  }

  async apply(config: BridgeConfig, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    const change = { config, nth: ++this.#given, isAccepted: false, wasTried: false };
    if (!this.#options.busy()) return this.#enqueue(change, signal);
    this.#accept(change);
    return "accepted";
  }

  /** Nobody waits for it: what becomes of it is told in the view. */
  #accept(change: Change): void {
    const { root, refused } = this.#options;
    this.#enqueue({ ...change, isAccepted: true }, root).catch((error: unknown) => refused(error, change.wasTried));
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
    // Given up while it waits, it is answered at once; its turn then comes to nothing, and is no failure of anybody.
    await turn.promise;
    const answer = await served;
    return typeof answer === "string" ? answer : answer.again;
  }

  /** `again`: its answer when it has given way to a stop, behind which it has its turn. */
  async #serve(change: Change, signal: AbortSignal): Promise<Answer | { readonly again: Promise<Answer> }> {
    if (change !== this.#newest) {
      if (!signal.aborted) this.#passedOver = change;
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
    this.#passedOver = undefined;
    this.#endWait();
    this.#options.refused(undefined);
  }

  #failed(change: Change, error: unknown): void {
    const isNewest = change === this.#newest;
    this.#served(change);
    if (change.isAccepted && error instanceof OperationError && error.kind === "stranding") this.#wait(change);
    // It comes to nothing, so the one before it, which was accepted, has its turn after all.
    else if (isNewest) this.#passedOverHasItsTurn();
  }

  /** Unless a newer one waits to be tried again. */
  #passedOverHasItsTurn(): void {
    const change = this.#passedOver;
    if (change === undefined || (this.#again?.change.nth ?? 0) > change.nth) return;
    this.#passedOver = undefined;
    this.#accept(change);
  }

  #wait(change: Change): void {
    const before = this.#endWait();
    if (before !== undefined && before.nth > (this.#passedOver?.nth ?? 0)) this.#passedOver = before;
    const timer = new AbortController();
    this.#again = { change: { ...change, wasTried: true }, timer };
    const { clock, root } = this.#options;
    clock.delay(TRY_AGAIN_MS, AbortSignal.any([root, timer.signal])).then(
      () => this.#tryAgain(timer),
      () => {},
    );
  }

  #tryAgain(timer: AbortController): void {
    if (this.#again?.timer !== timer) return;
    const { change } = this.#again;
    this.#again = undefined;
    // A newer one is on its way, and may be taken.
    if (this.#newest === undefined) this.#accept(change);
    else this.#wait(change);
  }

  /** What waited to be tried again. */
  #endWait(): Change | undefined {
    const { change, timer } = this.#again ?? {};
    this.#again = undefined;
    timer?.abort();
    return change;
  }

  #served(change: Change): void {
    if (this.#newest === change) this.#newest = undefined;
  }

  /** In the same turn, so that a newer one still comes behind it. */
  #giveWay(change: Change, signal: AbortSignal): Answer | { readonly again: Promise<Answer> } {
    if (change !== this.#newest) {
      this.#passedOver = change;
      return "accepted";
    }
    const again = this.#enqueue(change, signal);
    again.catch(() => {});
    return { again };
  }
}
