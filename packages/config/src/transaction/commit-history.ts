import { type Clock, type ConfigHistoryEntry, type ConfigStore, type Logger, type StoredConfig } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { isCounted } from "../config-version.ts";
import { messageOf } from "./probation-refusals.ts";

const TIMEOUT_MS = 10_000;

/** Writes down what is committed; whatever happens to it never fails a commit. */
export class CommitHistory {
  readonly #store: ConfigStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #withdrawn: ConfigHistoryEntry | undefined;

  constructor(store: ConfigStore, clock: Clock, logger: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * The version after which the next one is counted: that of `base`, or the highest that was ever committed or begun,
   * or is kept, when somebody has put an older document back by hand. So no two commits have one version, also after
   * one whose process was killed, and when the history or what is kept was moved away.
   */
  async after({ version }: StoredConfig): Promise<number> {
    let highest = version;
    await this.#keep(version, async (signal) => {
      for (const entry of (await this.#store.history?.list(signal)) ?? [])
        if (!this.#isFree(entry) && isCounted(entry.version)) highest = Math.max(highest, entry.version);
    });
    await this.#within(async (signal) => {
      const kept = (await this.#store.versions?.list(signal)) ?? [];
      highest = Math.max(highest, ...kept.filter(isCounted));
    }).catch((error: unknown) => {
      this.#logger.warn("which former versions are kept is not known: the next one is counted without them", {
        config_version: version,
        error: messageOf(error),
      });
    });
    return highest;
  }

  /** `entry`, which was begun, is known to be stored nowhere: its version is free. */
  withdraw(entry: ConfigHistoryEntry): void {
    this.#withdrawn = entry;
  }

  /** Before `entry`'s version is written over `base`. */
  async begin(entry: ConfigHistoryEntry, base: StoredConfig): Promise<void> {
    await this.#keep(entry.version, async (signal) => {
      // What an earlier commit left behind is in the store: it stays in the history, though it may never have run.
      const former = await unconfirmedCommit(this.#store, base.version, signal);
      if (former !== undefined) await this.#store.history?.append(confirmed(former), signal);
      await this.#store.history?.append({ ...entry, pending: true }, signal);
    });
  }

  /** Once `entry`'s version is known to be what runs or will run. */
  async confirm(entry: ConfigHistoryEntry): Promise<void> {
    await this.#keep(entry.version, async (signal) => this.#store.history?.append(entry, signal));
  }

  /** The change that was begun last and of which nobody knows what became, if it has this version. */
  async pending(version: number): Promise<ConfigHistoryEntry | undefined> {
    let found: ConfigHistoryEntry | undefined;
    await this.#keep(version, async (signal) => {
      const entry = await unconfirmedCommit(this.#store, version, signal);
      found = entry && confirmed(entry);
    });
    return found;
  }

  /**
   * The change of this version, if it was ever begun: whatever somebody who did not know that it was on probation, or a
   * process that died as it took it back, has said of it.
   */
  async begun(version: number): Promise<ConfigHistoryEntry | undefined> {
    let found: ConfigHistoryEntry | undefined;
    await this.#keep(version, async (signal) => {
      const entries = (await this.#store.history?.list(signal)) ?? [];
      const ofIt = entries.filter((entry) => entry.version === version);
      const entry = ofIt.find(({ pending }) => pending === true) ?? ofIt[0];
      found = entry && confirmed(entry);
    });
    return found;
  }

  /** Whether the change of this version is known to be there to stay. */
  async isConfirmed(version: number): Promise<boolean> {
    let is = false;
    await this.#keep(version, async (signal) => {
      const entries = (await this.#store.history?.list(signal)) ?? [];
      const ofIt = entries.filter((entry) => entry.version === version);
      is = ofIt.length > 0 && ofIt.every(({ pending, reverted }) => pending !== true && reverted === undefined);
    });
    return is;
  }

  /**
   * Whether another process has told that it took `entry`, staged at `at`, back: of what it found of it that tells the
   * time, too.
   */
  async isTakenBack({ version, committedAt }: ConfigHistoryEntry, at: number): Promise<boolean> {
    let found = false;
    await this.#keep(version, async (signal) => {
      const entries = (await this.#store.history?.list(signal)) ?? [];
      found = entries.some(
        (entry) =>
          entry.reverted !== undefined &&
          entry.version === version &&
          (entry.committedAt === committedAt || entry.committedAt === at),
      );
    });
    return found;
  }

  /** Once `entry`, which was begun, is taken back. */
  async revert(entry: ConfigHistoryEntry): Promise<void> {
    await this.confirm(entry);
  }

  /**
   * Of a change that was never stored. What is only staged is not, and else a process that was killed may have stored
   * it.
   */
  #isFree({ pending, version, committedAt }: ConfigHistoryEntry): boolean {
    const { version: free, committedAt: at } = this.#withdrawn ?? {};
    return pending === true && (this.#store.staging !== undefined || (version === free && committedAt === at));
  }

  async #keep(version: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    await this.#within(work).catch((error: unknown) => {
      this.#logger.warn("the history of the configuration cannot be kept", {
        config_version: version,
        error: messageOf(error),
      });
    });
  }

  async #within(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    using limit = deadline(
      this.#clock,
      TIMEOUT_MS,
      new Error(`the history was not written in ${TIMEOUT_MS / 1_000} s`),
    );
    await work(limit.signal);
  }
}

/**
 * The commit that wrote `version`, which is stored, and then ended, with its process or because the configuration could
 * neither be applied nor undone: nobody knows it to have run. `undefined` when there is none.
 */
export async function unconfirmedCommit(
  store: ConfigStore,
  version: number,
  signal: AbortSignal,
): Promise<ConfigHistoryEntry | undefined> {
  const entries = await store.history?.list(signal);
  return entries?.find((entry) => entry.pending === true && entry.version === version);
}

/** The entry of a commit that is known to run. */
export function confirmed(entry: ConfigHistoryEntry): ConfigHistoryEntry {
  const { pending: _, ...rest } = entry;
  return rest;
}
