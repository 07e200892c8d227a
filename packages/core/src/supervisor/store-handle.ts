import type { StoreConfig, StoreRole } from "@bridge/config";
import { BridgeError, type ErrorCode, type Seams, type TellsHealth } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { asError } from "../as-error.ts";
import { backoffDelay } from "../route/backoff.ts";
import { discard } from "../runtime/discard.ts";
import type { StoreState, StoreView } from "../view/bridge-view.ts";

/** One try to open it. */
const OPEN_TIMEOUT_MS = 30_000;
const AGAIN = { initialIntervalMs: 500, maxIntervalMs: 10_000, multiplier: 2, jitter: 0.5 } as const;
/** How often it is looked whether the state is another one, for the log. */
const LOOK_MS = 1_000;
/** What a store says whose service is away, and that may be there in a moment. */
const AWAY: ReadonlySet<ErrorCode> = new Set(["CONNECTION_LOST", "TIMEOUT", "THROTTLED"]);

export interface StoreHandleOptions<Store> extends Seams {
  readonly role: StoreRole;
  readonly block: StoreConfig;
  readonly open: (signal: AbortSignal) => Promise<Store>;
  /** Whether somebody waits to hear that it is refused, and gives it up then: it is not tried again. */
  readonly awaited: boolean;
  /**
   * Asks an open store what has to be known before anybody uses it. The function that it resolves to enters that, in the
   * turn in which the store comes into use.
   */
  readonly look: (store: Store, signal: AbortSignal) => Promise<() => void>;
}

/**
 * One configured store: `opening` until it is open, and it is tried until it is, then `up`, or `faulty` while it says that
 * it takes nothing. Nobody has to wait for it.
 */
export class StoreHandle<Store extends AsyncDisposable & TellsHealth> {
  readonly block: StoreConfig;
  readonly #options: StoreHandleOptions<Store>;
  readonly #over = new AbortController();
  readonly #firstTry = Promise.withResolvers<void>();
  readonly #looking: Disposable;
  #store: Store | undefined;
  /** Why the last try to open it has failed. */
  #failure: Error | undefined;
  #state: StoreState = "opening";
  #since: number;
  /** Since when it has not been asked whether it is there; as long as it is, nobody knows. */
  #doubt: symbol | undefined;
  /** Whether the log says that something is wrong with it. */
  #told = false;
  readonly #trying: Promise<void>;
  #awaited: boolean;

  constructor(options: StoreHandleOptions<Store>) {
    const { block, clock } = options;
    this.block = block;
    this.#options = options;
    this.#since = clock.now();
    this.#awaited = options.awaited;
    this.#looking = clock.every(LOOK_MS, () => void this.view());
    this.#firstTry.promise.catch(() => {});
    this.#trying = this.#untilOpen();
  }

  get store(): Store | undefined {
    return this.#store;
  }

  /**
   * Resolves when the store is open, and when it is not known yet whether it can be, which takes no longer than `ms`.
   * Rejects when it was refused: not because its service is away, but for a reason that somebody has to see to.
   */
  async refused(ms: number, signal: AbortSignal): Promise<void> {
    using grace = deadline(this.#options.clock, ms, new Error("not known yet"));
    try {
      await orAborted(this.#firstTry.promise, AbortSignal.any([signal, grace.signal]));
    } catch (error) {
      signal.throwIfAborted();
      if (!grace.signal.aborted && !isAway(error)) throw error;
    } finally {
      this.#awaited = false;
    }
  }

  view(): StoreView {
    const { role, block } = this.#options;
    const { setAside, spoiled = 0, fault = this.#failure?.message } = this.#store?.health?.() ?? { setAside: [] };
    const known = this.#store !== undefined && this.#doubt === undefined;
    this.#enter(this.#store !== undefined && fault !== undefined ? "faulty" : known ? "up" : "opening", fault);
    return {
      role,
      type: block.type,
      state: this.#state,
      since: this.#since,
      open: this.#store !== undefined,
      ...(fault !== undefined && { fault }),
      setAside,
      ...(spoiled > 0 && { spoiled }),
    };
  }

  /**
   * Others are about to use it: it is `opening` again until it has answered, unless it is known to be faulty. A change takes
   * with it the calls by which a store that hangs would have been noticed.
   */
  doubt(): void {
    const prove = this.#store?.prove?.bind(this.#store);
    if (prove === undefined) return;
    const doubt = (this.#doubt = Symbol("doubt"));
    void prove().finally(() => {
      if (this.#doubt === doubt) this.#doubt = undefined;
    });
  }

  /** Nobody gets it any more, not even when it opens late. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#looking[Symbol.dispose]();
    this.#over.abort(new BridgeError("UNAVAILABLE", "the store is closed"));
    const store = this.#store;
    this.#store = undefined;
    await this.#trying;
    await store?.[Symbol.asyncDispose]();
  }

  async #untilOpen(): Promise<void> {
    const { clock, random, logger } = this.#options;
    const over = this.#over.signal;
    for (let tries = 1; !over.aborted; tries++) {
      try {
        await this.#open();
        this.#failure = undefined;
        this.#firstTry.resolve();
        return;
      } catch (thrown) {
        this.#failure = asError(thrown);
        this.#firstTry.reject(this.#failure);
      }
      if (over.aborted || (this.#awaited && !isAway(this.#failure))) return;
      const { code, message } = BridgeError.from(this.#failure);
      this.#told = true;
      logger.error("store not open: tried again, and what needs it waits", { code, error: message, tries });
      await clock
        .delay(
          backoffDelay(AGAIN, tries, () => random.next()),
          over,
        )
        .catch(() => {});
    }
  }

  async #open(): Promise<void> {
    const { role, open, look, clock } = this.#options;
    using limit = deadline(
      clock,
      OPEN_TIMEOUT_MS,
      () => new BridgeError("TIMEOUT", `the ${role} store was not open after ${OPEN_TIMEOUT_MS} ms`),
    );
    const bounded = AbortSignal.any([this.#over.signal, limit.signal]);
    const opening = open(bounded);
    let opened = false;
    try {
      const store = await orAborted(opening, bounded);
      const enter = await orAborted(look(store, bounded), bounded);
      bounded.throwIfAborted();
      enter();
      this.#store = store;
      opened = true;
    } finally {
      // One that opens after all, or of which nothing could be known, must not stay open behind our back.
      if (!opened) discard(opening);
    }
  }

  #enter(state: StoreState, fault: string | undefined): void {
    if (state === this.#state) return;
    const { clock, logger } = this.#options;
    this.#state = state;
    this.#since = clock.now();
    if (state === "faulty") logger.error("store faulty: what needs it waits", { error: fault });
    else if (this.#told) logger.info("store up again");
    this.#told = state === "faulty";
  }
}

function isAway(error: unknown): boolean {
  return BridgeError.is(error) && (AWAY.has(error.code) || error.retryAfterMs !== undefined);
}
