import type { ConfigTransactions, HttpSection } from "@bridge/config";
import { OperationError, type Supervisor } from "@bridge/core";
import type { ConfigWatch } from "@bridge/http-monitor";
import { BridgeError, type Clock, type ConfigChange, type Logger, type StoredConfig } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { ConfigSource, Judged } from "./config-source.ts";
import { messageOf } from "./message-of.ts";

export interface ConfigFollowerOptions {
  readonly source: ConfigSource;
  readonly supervisor: Pick<Supervisor, "apply" | "view">;
  /** Whose commits bring configurations into force, too. */
  readonly transactions: Pick<ConfigTransactions, "underWay">;
  /** Throws when a process that starts with this block would have no keys. */
  readonly keys: (http: HttpSection | undefined) => unknown;
  /** Told the version of each configuration that it has brought into force. */
  readonly onApplied?: (version: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What has to end before a process does (spec 3.3). */
export interface FollowerStages {
  readonly watch: Promise<void>;
  readonly rollout: Promise<void>;
}

/** What became of a configuration that its source told of; `accepted` comes into force as soon as the bridge can. */
export type ReloadOutcome = "applied" | "accepted" | "refused" | "failed";

const NEVER = new AbortController().signal;
/** Before the store is asked again for what it could not be asked for. */
const ASK_AGAIN_MS = 1_000;
/** Before a configuration that would leave messages behind is tried again. */
const TRY_AGAIN_MS = 5_000;

/**
 * Keeps a bridge at what its configuration source says (spec 1.8, 2.6): the newest valid configuration is brought into
 * force, one at a time. What cannot be read, is not valid or cannot be applied leaves the former one running, and shows
 * in the facts and in the log.
 */
export class ConfigFollower {
  readonly #options: ConfigFollowerOptions;
  readonly #over = new AbortController();
  #turns: Promise<void> = Promise.resolve();
  #watching: Promise<void> = Promise.resolve();
  #reloadWaits = false;
  #lastReloadAt: number | undefined;
  readonly #reloads: Record<ReloadOutcome, number> = { applied: 0, accepted: 0, refused: 0, failed: 0 };
  /** What would have left messages behind when it was last tried, and is tried again. */
  #stranding: (Judged & { readonly ok: true }) | undefined;
  /** And of which content: what has been written over by a commit is no error any more. */
  #lastError: { readonly text: string; readonly seen: string | undefined } | undefined;

  constructor(options: ConfigFollowerOptions) {
    this.#options = options;
  }

  /** For deep health (spec 2.6). */
  facts(): ConfigWatch {
    const { source, supervisor } = this.#options;
    const { configVersion, restartRequired, refusedChange } = supervisor.view();
    return {
      source: source.store.source,
      version: configVersion,
      lastReloadAt: this.#lastReloadAt,
      lastError: this.#lastError?.seen === source.store.seen ? (this.#lastError?.text ?? refusedChange) : refusedChange,
      restartRequired: restartRequired.length === 0 ? undefined : restartRequired.join(", "),
      staged: source.store.staging?.seen,
    };
  }

  /** How many configurations came to what, since the start. */
  reloads(): Readonly<Record<ReloadOutcome, number>> {
    return { ...this.#reloads };
  }

  /** Begins with what has changed since the source was read. */
  start(): void {
    this.#watching = this.#watch();
  }

  /** Reads the source now and applies what is there, also when its text is the same: what it refers to may not be. */
  reload(): void {
    if (this.#reloadWaits) return;
    this.#reloadWaits = true;
    void this.#inTurn(async () => {
      this.#reloadWaits = false;
      await this.#apply(await this.#options.source.read(this.#over.signal));
    });
  }

  /** Ends it; each stage resolves when nothing of it runs any more. What is being applied is left to the supervisor. */
  stop(): FollowerStages {
    this.#over.abort(new Error("the configuration is followed no more"));
    return { watch: this.#watching, rollout: this.#turns };
  }

  async #watch(): Promise<void> {
    const { source, logger } = this.#options;
    try {
      for await (const change of source.store.watch(this.#over.signal)) await this.#inTurn(() => this.#take(change));
    } catch (error) {
      this.#fail(`changes are not noticed any more, only at SIGHUP: ${messageOf(error)}`);
      logger.error("the configuration is watched no more: SIGHUP still reloads it", { error: messageOf(error) });
    }
  }

  async #take(change: ConfigChange): Promise<void> {
    const { source } = this.#options;
    const { signal } = this.#over;
    switch (change.kind) {
      case "missing":
        return this.#apply(source.missing());
      case "unreadable":
        return this.#apply(source.refuse([change.error.message]));
      case "changed":
        return this.#apply(await source.judge(change.stored, signal));
    }
  }

  async #apply(judged: Judged): Promise<void> {
    const { supervisor, source, keys, clock, logger } = this.#options;
    if (!judged.ok) {
      this.#reloads.refused++;
      this.#fail(judged.error);
      logger.error(judged.missing ? SENTENCES.missing : SENTENCES.refused, { source: source.store.source });
      return;
    }
    try {
      // What was written in the meantime is brought into force by whoever wrote it, or told next.
      if (!(await this.#mayApply(judged.stored))) return;
      // The next start would fail without; better told now.
      keys(judged.config.http);
      // Not bounded here: the supervisor bounds what it stops and opens.
      const outcome = await orAborted(supervisor.apply(judged.config, NEVER), this.#over.signal);
      this.#reloads[outcome]++;
      this.#lastReloadAt = clock.now();
      this.#lastError = undefined;
      this.#options.onApplied?.(judged.config.configVersion);
      const { restartRequired } = supervisor.view();
      logger.info(SENTENCES[outcome], {
        config_version: judged.config.configVersion,
        ...(restartRequired.length > 0 && { restart_required: restartRequired.join(", ") }),
      });
    } catch (error) {
      if (this.#over.signal.aborted) return;
      if (error instanceof OperationError && error.kind === "stranding") {
        this.#waitsFor(judged, error);
        return;
      }
      this.#reloads.failed++;
      this.#fail(messageOf(error));
      logger.error("configuration not applied", { error: messageOf(error) });
    }
  }

  /** It would leave messages behind: it is tried again, as long as it is what is stored, until they are gone. */
  #waitsFor(judged: Judged & { readonly ok: true }, { message }: OperationError): void {
    const { clock, logger } = this.#options;
    if (this.#lastError?.text !== message) {
      this.#reloads.refused++;
      logger.error(SENTENCES.stranding, { error: message });
    }
    this.#fail(message);
    const waits = this.#stranding !== undefined;
    this.#stranding = judged;
    if (waits) return;
    const again = async (): Promise<void> => {
      const next = this.#stranding;
      this.#stranding = undefined;
      if (next !== undefined) await this.#apply(next);
    };
    clock.delay(TRY_AGAIN_MS, this.#over.signal).then(
      () => this.#inTurn(again),
      () => {},
    );
  }

  #fail(text: string): void {
    this.#lastError = { text, seen: this.#options.source.store.seen };
  }

  /**
   * Whether it is still what is stored, and no commit of this process brings something else into force. Nothing is awaited
   * between that finding and its use.
   */
  async #mayApply(stored: StoredConfig): Promise<boolean> {
    const { transactions } = this.#options;
    for (;;) {
      const current = await this.#isCurrent(stored);
      const { underWay } = transactions;
      if (underWay === undefined || !current) return current;
      await orAborted(
        underWay.then(
          () => {},
          () => {},
        ),
        this.#over.signal,
      );
    }
  }

  /** Asks until there is an answer: nobody tells this change again. */
  async #isCurrent({ revision }: StoredConfig): Promise<boolean> {
    const { source, clock } = this.#options;
    const { signal } = this.#over;
    for (;;) {
      try {
        return (await source.store.load(signal))?.revision === revision;
      } catch (error) {
        signal.throwIfAborted();
        // Something else is there, and cannot be read.
        if (!BridgeError.is(error)) return false;
        this.#fail(messageOf(error));
        await clock.delay(ASK_AGAIN_MS, signal);
      }
    }
  }

  /** One at a time. */
  #inTurn(job: () => Promise<void>): Promise<void> {
    this.#turns = this.#turns.then(job).catch((error: unknown) => {
      if (!this.#over.signal.aborted) this.#options.logger.error("configuration not read", { error: messageOf(error) });
    });
    return this.#turns;
  }
}

const SENTENCES = {
  applied: "configuration reloaded",
  accepted: "configuration accepted: it comes into force as soon as the bridge can",
  missing: "the configuration is gone: the last good one stays in force",
  stranding: "the configuration would leave messages behind: the last good one stays in force until they are gone",
  refused: "the configuration is not usable: the last good one stays in force",
} as const;
