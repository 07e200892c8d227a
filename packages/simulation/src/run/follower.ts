import { type BridgeConfig, checkDocument, type ConfigTransactions, type Registry } from "@bridge/config";
import { OperationError, type Supervisor } from "@bridge/core";
import { BridgeError, type Clock, type ConfigStore, type StoredConfig } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";

/** The pause before asking a silent store again, and before retrying a change that would leave messages behind. */
const ASK_AGAIN_MS = 1_000;
const TRY_AGAIN_MS = 5_000;

/** Documents here refer to nothing. */
export const NO_SOURCES = {
  env: () => undefined,
  file: () => Promise.reject(new Error("there are no files here")),
};

export interface FollowerOptions {
  readonly store: ConfigStore;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly apply: (config: BridgeConfig) => ReturnType<Supervisor["apply"]>;
  readonly transactions: ConfigTransactions;
}

/** Keeps an instance on its document, as the host of a process does. */
export class Follower {
  /** Why what is stored is not in force, as an operator is told. */
  error: string | undefined;
  readonly #options: FollowerOptions;
  readonly #over = new AbortController();
  #turns: Promise<void> = Promise.resolve();
  #retry: AbortController = new AbortController();
  #waiting = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Whether it has something to do. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  start(): void {
    void this.#watch();
  }

  stop(): void {
    this.#over.abort(new Error("the document is followed no more"));
    this.#retry.abort();
  }

  /** An operator asks for what is stored to be read again. */
  reload(): void {
    void this.#inTurn(async () => {
      const stored = await this.#options.store.load(this.#over.signal);
      if (stored === undefined) this.error = "there is no document";
      else await this.#take(stored);
    });
  }

  async #watch(): Promise<void> {
    for await (const change of this.#options.store.watch(this.#over.signal))
      await this.#inTurn(async () => {
        if (change.kind === "changed") await this.#take(change.stored);
        else this.error = `the document is ${change.kind}`;
      });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    this.#turns = this.#turns.then(work).then(
      () => void this.#waiting--,
      (error: unknown) => {
        this.#waiting--;
        this.error = String(error);
      },
    );
    return this.#turns;
  }

  async #take(stored: StoredConfig): Promise<void> {
    const { registry, clock } = this.#options;
    const { signal } = this.#over;
    const checked = await checkDocument(stored.document, registry, NO_SOURCES, signal, new Slices(clock));
    if (checked.ok) await this.#apply(stored, { ...checked.config, stored });
    else this.error = "the document is not valid";
  }

  async #apply(stored: StoredConfig, config: BridgeConfig): Promise<void> {
    if (!(await this.#mayApply(stored))) return;
    this.#retry.abort();
    try {
      await this.#options.apply(config);
      this.error = undefined;
      this.#options.transactions.followed(config);
    } catch (error) {
      this.error = String(error);
      if (error instanceof OperationError && error.kind === "stranding") this.#later(stored, config);
    }
  }

  #later(stored: StoredConfig, config: BridgeConfig): void {
    this.#retry = new AbortController();
    const signal = AbortSignal.any([this.#retry.signal, this.#over.signal]);
    this.#options.clock.delay(TRY_AGAIN_MS, signal).then(
      () => this.#inTurn(() => this.#apply(stored, config)),
      () => {},
    );
  }

  /** Whether it is still what is stored, and no commit of this instance brings something else into force, or tries it out. */
  async #mayApply({ revision }: StoredConfig): Promise<boolean> {
    const { transactions } = this.#options;
    for (;;) {
      if ((await this.#current()) !== revision) return false;
      const { underWay } = transactions;
      if (underWay === undefined) return !transactions.triesOver(revision);
      await underWay.then(
        () => {},
        () => {},
      );
    }
  }

  /** Asks until there is an answer: nobody tells this change again. */
  async #current(): Promise<string | undefined> {
    const { store, clock } = this.#options;
    for (;;) {
      try {
        return (await store.load(this.#over.signal))?.revision;
      } catch (error) {
        this.#over.signal.throwIfAborted();
        if (!BridgeError.is(error)) return undefined;
        this.error = error.message;
        await clock.delay(ASK_AGAIN_MS, this.#over.signal);
      }
    }
  }
}
