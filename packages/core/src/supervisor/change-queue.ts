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
}

type Answer = "applied" | "accepted";

/** Configurations on their way into force: one at a time, and of those that wait the newest. */
export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  #newest: Change | undefined;
  /** The last that somebody has brought. */
  #given: BridgeConfig | undefined;
  /** The last one that was accepted without being tried, because a newer one waited behind it. */
  #passedOver: BridgeConfig | undefined;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
  }

  async apply(config: BridgeConfig, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    this.#given = config;
    if (!this.#options.busy()) return this.#enqueue({ config }, signal);
    this.#accept(config);
    return "accepted";
  }

  /** Nobody waits for it: what becomes of it is told in the view. */
  #accept(config: BridgeConfig, again = false): void {
    const { root, refused } = this.#options;
    this.#enqueue({ config }, root).catch((error: unknown) => {
      refused(error, again);
      if (error instanceof OperationError && error.kind === "stranding") this.#tryAgain(config);
    });
  }

  /** Whoever has brought it was told that there is nothing more to do. */
  #tryAgain(config: BridgeConfig): void {
    const { clock, root } = this.#options;
    clock.delay(TRY_AGAIN_MS, root).then(
      () => {
        if (this.#given === config) this.#accept(config, true);
      },
      () => {},
    );
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
      if (!signal.aborted) this.#passedOver = change.config;
      return "accepted";
    }
    const passedOver = this.#passedOver;
    this.#passedOver = undefined;
    try {
      signal.throwIfAborted();
      const answer = await this.#options.change(change.config, signal);
      this.#options.refused(undefined);
      return answer;
    } catch (error) {
      if (error instanceof GaveWay) return this.#giveWay(change, passedOver, signal);
      // The newest one comes to nothing, so the one before it, which was accepted, has its turn after all.
      if (passedOver !== undefined && this.#newest === change) this.#accept(passedOver);
      else this.#passedOver = passedOver;
      throw error;
    }
  }

  /** In the same turn, so that a newer one still comes behind it. */
  #giveWay(
    change: Change,
    passedOver: BridgeConfig | undefined,
    signal: AbortSignal,
  ): Answer | { readonly again: Promise<Answer> } {
    const isNewest = change === this.#newest;
    this.#passedOver = isNewest ? passedOver : change.config;
    if (!isNewest) return "accepted";
    const again = this.#enqueue(change, signal);
    again.catch(() => {});
    return { again };
  }
}
