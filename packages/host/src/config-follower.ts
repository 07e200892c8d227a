import type { ConfigTransactions, HttpSection } from "@bridge/config";
import { OperationError, type Supervisor } from "@bridge/core";
import type { ConfigWatch } from "@bridge/http-monitor";
import { BridgeError, type ConfigChange, type Seams, type StoredConfig } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { ConfigSource, Judged } from "./config-source.ts";
import { messageOf } from "./message-of.ts";

type Usable = Judged & { readonly ok: true };
type Unusable = Judged & { readonly ok: false };

export interface ConfigFollowerOptions extends Seams {
  readonly source: ConfigSource;
  readonly supervisor: Pick<Supervisor, "apply" | "view">;
  /** Whose commits bring configurations into force, too. */
  readonly transactions: Pick<ConfigTransactions, "underWay" | "triesOver" | "followed">;
  /** Throws when a process that starts with this block would have no keys. */
  readonly keys: (http: HttpSection | undefined) => unknown;
  /** Told the version of each configuration that it has brought into force. */
  readonly onApplied?: (version: number) => void;
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
 * The same for one that an empty bridge could not bring into force, or that refers to what cannot be read: at first and
 * at last.
 */
const AT_FIRST_MS = 1_000;
const AT_LAST_MS = 30_000;

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
  /** What the watch has told last, by the name of its content. */
  #told: string | undefined;
  /** What a reload has refused and the watch has not told yet: it tells the same change, which is not news then. */
  #refusedFirst: { readonly seen: string | undefined; readonly problems: readonly string[] } | undefined;
  /** How many wait for their turn or have it, and since when there is one. */
  #reloading: { readonly since: number; readonly jobs: number } | undefined;
  readonly #reloads: Record<ReloadOutcome, number> = { applied: 0, accepted: 0, refused: 0, failed: 0 };
  /** What could not be brought into force when it was last tried, and how often. */
  #unapplied: { readonly revision: string; readonly tries: number } | undefined;
  /** How often something that the newest refers to could not be read. */
  #unread = 0;
  /** Ends the wait for the next try. */
  #pause = new AbortController();
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
      reloadingSince: this.#reloading?.since,
      lastError: this.#errorInForce() ?? refusedChange,
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
    this.#told = this.#options.source.store.seen;
    this.#watching = this.#watch();
  }

  /** Reads the source now and applies what is there, also when its text is the same: what it refers to may not be. */
  reload(): void {
    if (this.#reloadWaits) return;
    this.#reloadWaits = true;
    void this.#inTurn(async () => {
      this.#reloadWaits = false;
      const { source } = this.#options;
      const judged = await source.read(this.#over.signal);
      const { seen } = source.store;
      this.#refusedFirst = judged.ok || seen === this.#told ? undefined : { seen, problems: judged.problems };
      await this.#apply(judged);
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
    this.#told = change.kind === "changed" ? change.stored.revision : source.store.seen;
    const known = this.#refusedFirst?.seen === this.#told ? this.#refusedFirst?.problems : undefined;
    this.#refusedFirst = undefined;
    switch (change.kind) {
      case "missing":
        return this.#apply(source.missing(known));
      case "unreadable":
        return this.#apply(source.refuse([change.error.message], { known }));
      case "changed":
        return this.#apply(await source.judge(change.stored, signal, known));
    }
  }

  async #apply(judged: Judged): Promise<void> {
    const { supervisor, transactions, keys, clock, logger } = this.#options;
    if (!judged.ok) {
      this.#refused(judged);
      return;
    }
    this.#unread = 0;
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
      transactions.followed(judged.config);
      this.#unapplied = undefined;
      this.#pause.abort();
      this.#options.onApplied?.(judged.config.configVersion);
      const { restartRequired } = supervisor.view();
      logger.info(SENTENCES[outcome], {
        config_version: judged.config.configVersion,
        ...(restartRequired.length > 0 && { restart_required: restartRequired.join(", ") }),
      });
    } catch (error) {
      if (this.#over.signal.aborted) return;
      this.#notApplied(judged, error);
    }
  }

  /** Reading stops nothing: what may be found usable in a moment is read again. */
  #refused({ error, missing, unread, repeated }: Unusable): void {
    const { source, logger } = this.#options;
    this.#unread = unread ? this.#unread + 1 : 0;
    if (!repeated && (!unread || this.#lastError?.text !== error)) {
      this.#reloads.refused++;
      const sentence = unread ? "unread" : missing ? "missing" : "refused";
      logger.error(SENTENCES[sentence], { source: source.store.source });
    }
    this.#fail(error);
    if (unread) this.#tryAgain(() => source.read(this.#over.signal), this.#growingPause(this.#unread));
  }

  /**
   * It is tried again, as long as it is what is stored, when that can do no harm: each try stops what it touches, of
   * which an empty bridge has nothing, and what would leave messages behind was refused before.
   */
  #notApplied(judged: Usable, error: unknown): void {
    const { supervisor, logger } = this.#options;
    const { revision } = judged.stored;
    const message = messageOf(error);
    const stranding = error instanceof OperationError && error.kind === "stranding";
    const tries = this.#unapplied?.revision === revision ? this.#unapplied.tries + 1 : 1;
    const again = stranding || supervisor.view().empty;
    if (tries === 1 || !again) {
      this.#reloads[stranding ? "refused" : "failed"]++;
      logger.error(SENTENCES[stranding ? "stranding" : again ? "waiting" : "failed"], { error: message });
    }
    this.#fail(message);
    this.#unapplied = again ? { revision, tries } : undefined;
    if (again) this.#tryAgain(async () => judged, stranding ? TRY_AGAIN_MS : this.#growingPause(tries));
  }

  /** At random, so that instances which have met one document do not go on trying together. */
  #growingPause(tries: number): number {
    const longest = Math.min(AT_LAST_MS, AT_FIRST_MS * 2 ** (tries - 1));
    return longest * (1 - this.#options.random.next() / 2);
  }

  #tryAgain(judge: () => Promise<Judged>, ms: number): void {
    this.#pause.abort();
    this.#pause = new AbortController();
    this.#options.clock.delay(ms, AbortSignal.any([this.#pause.signal, this.#over.signal])).then(
      () => this.#inTurn(async () => this.#apply(await judge())),
      () => {},
    );
  }

  /** A newer content takes the place of an error when it is known what becomes of it, and not before. */
  #errorInForce(): string | undefined {
    const { text, seen } = this.#lastError ?? {};
    return this.#reloading !== undefined || seen === this.#options.source.store.seen ? text : undefined;
  }

  #fail(text: string): void {
    this.#lastError = { text, seen: this.#options.source.store.seen };
  }

  /**
   * Whether it is still what is stored, and no commit of this process brings something else into force, or tries it
   * out. Nothing is awaited between that finding and its use.
   */
  async #mayApply(stored: StoredConfig): Promise<boolean> {
    const { transactions } = this.#options;
    for (;;) {
      const current = await this.#isCurrent(stored);
      const { underWay } = transactions;
      if (underWay === undefined || !current) return current && !transactions.triesOver(stored.revision);
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
    const { clock, logger } = this.#options;
    const { since = clock.now(), jobs = 0 } = this.#reloading ?? {};
    this.#reloading = { since, jobs: jobs + 1 };
    this.#turns = this.#turns
      .then(job)
      .catch((error: unknown) => {
        if (!this.#over.signal.aborted) logger.error("configuration not read", { error: messageOf(error) });
      })
      .then(() => this.#done());
    return this.#turns;
  }

  #done(): void {
    const { since = 0, jobs = 0 } = this.#reloading ?? {};
    this.#reloading = jobs > 1 ? { since, jobs: jobs - 1 } : undefined;
  }
}

const SENTENCES = {
  applied: "configuration reloaded",
  accepted: "configuration accepted: it comes into force as soon as the bridge can",
  missing: "the configuration is gone: the last good one stays in force",
  failed: "configuration not applied",
  waiting: "configuration not applied: nothing runs, and it is tried again until it can be",
  stranding: "the configuration would leave messages behind: the last good one stays in force until they are gone",
  unread:
    "something that the configuration refers to cannot be read: the last good one stays in force, and it is read again",
  refused: "the configuration is not usable: the last good one stays in force",
} as const;
