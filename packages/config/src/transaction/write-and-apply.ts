import {
  type Clock,
  type ConfigHistoryEntry,
  type ConfigStore,
  deadline,
  type Logger,
  orAborted,
  ReadOnlyConfigError,
  type StoredConfig,
} from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import type { ConfigApplier } from "./applier.ts";
import type { CommitHistory } from "./commit-history.ts";
import type { CommitResult } from "./contract.ts";

export interface CommitParts {
  readonly store: ConfigStore;
  readonly history: CommitHistory;
  readonly applier: ConfigApplier | undefined;
  readonly applyTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A change that nothing is wrong with. */
export interface SoundChange {
  readonly base: StoredConfig;
  readonly document: StoredConfig["document"];
  readonly config: BridgeConfig;
  /** For the history. */
  readonly entry: ConfigHistoryEntry;
  /** What an error says, without what must not be seen. */
  readonly tell: (error: unknown) => string;
}

type Outcome = Exclude<CommitResult, { readonly status: "erases_options" | "invalid" }>;

/** How long the store may take for each thing that it is asked. */
const STORE_TIMEOUT_MS = 30_000;

/**
 * Writes a change durably, then applies it; what cannot be applied is taken back, unless another hand has written since
 * (spec 4.9.5). Never rejects.
 */
export async function writeAndApply(change: SoundChange, parts: CommitParts): Promise<Outcome> {
  const { base, document, entry, tell } = change;
  const { store, history } = parts;
  await history.begin(entry, base);
  let written: StoredConfig | undefined;
  try {
    written = await bounded((signal) => store.write(document, base, signal));
  } catch (error) {
    if (error instanceof ReadOnlyConfigError) return { status: "conflict", error: tell(error) };
    return notWritten(change, parts, error);
  }
  if (written === undefined) {
    return {
      status: "conflict",
      error: `the configuration moved on from version ${base.version}: open a new transaction`,
    };
  }
  try {
    const status = (await applied({ ...change.config, configVersion: written.version }, parts))
      ? "committed"
      : "committed_applying";
    await history.confirm(entry);
    return { status, version: written.version };
  } catch (error) {
    return takenBack(change, written, parts, `the configuration could not be applied: ${tell(error)}`);
  }
}

/** Whether it runs already; otherwise it will. Rejects when it does not and will not. */
async function applied(
  config: BridgeConfig,
  { applier, applyTimeoutMs, clock, logger }: CommitParts,
): Promise<boolean> {
  if (applier === undefined) return true;
  const cap = new AbortController();
  const done = new AbortController();
  const overrun = new Error(`it was not applied within ${applyTimeoutMs / 1_000} s`);
  clock.delay(applyTimeoutMs, done.signal).then(
    () => cap.abort(overrun),
    () => {},
  );
  const applying = applier.apply(config, cap.signal);
  try {
    return (await orAborted(applying, cap.signal)) === "applied";
  } finally {
    done.abort();
    const late = { version: config.configVersion };
    if (cap.signal.aborted)
      applying.then(
        () => logger.error("a configuration was applied after it had been given up", late),
        () => {},
      );
  }
}

async function takenBack(
  { base, tell }: SoundChange,
  written: StoredConfig,
  { store, logger }: CommitParts,
  error: string,
): Promise<Outcome> {
  let why = "another hand has written since";
  try {
    if (await bounded((signal) => store.restore(base, written, signal)))
      return { status: "rolled_back", version: base.version, error };
  } catch (thrown) {
    why = tell(thrown);
  }
  const version = (await load(store))?.version ?? written.version;
  logger.error("a configuration is stored that does not run, and the former one cannot be put back", {
    version,
    error,
    why,
  });
  return {
    status: "committed_not_applied",
    version,
    error: `${error}; the former one could not be put back: ${why}; version ${version} is stored and does not run`,
  };
}

/** After a write that failed: it may have been done all the same. */
async function notWritten(
  { base, tell }: SoundChange,
  { store, logger }: CommitParts,
  thrown: unknown,
): Promise<Outcome> {
  const error = `the configuration could not be written: ${tell(thrown)}`;
  const stored = await load(store);
  const version = stored?.version ?? base.version;
  logger.error("a configuration could not be written", { version, error });
  const state =
    stored === undefined
      ? "what is stored cannot be read"
      : stored.revision === base.revision
        ? `nothing has changed: version ${version} is stored and runs`
        : `version ${version} is stored and does not run`;
  return { status: "committed_not_applied", version, error: `${error}; ${state}` };
}

async function load(store: ConfigStore): Promise<StoredConfig | undefined> {
  return bounded((signal) => store.load(signal)).catch(() => undefined);
}

async function bounded<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  using limit = deadline(STORE_TIMEOUT_MS, new Error(`the store did not answer in ${STORE_TIMEOUT_MS / 1_000} s`));
  return await orAborted(work(limit.signal), limit.signal);
}
