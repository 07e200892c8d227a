import { ReadOnlyConfigError, type StoredConfig } from "@bridge/ports";
import { applied, bounded, type CommitParts, load, type Outcome, type SoundChange, undone } from "./commit-parts.ts";

/**
 * Writes a change durably, then applies it; what cannot be applied is taken back, unless another hand has written since
 * (spec 4.9.5). Never rejects.
 */
export async function writeAndApply(change: SoundChange, parts: CommitParts): Promise<Outcome> {
  const { base, expected, document, text, entry, tell } = change;
  const { store, history } = parts;
  await history.begin(entry, base);
  let written: StoredConfig | undefined;
  try {
    written = await bounded(parts.clock, (signal) => store.write(document, expected, signal, text));
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

async function takenBack(
  { base, tell }: SoundChange,
  written: StoredConfig,
  parts: CommitParts,
  error: string,
): Promise<Outcome> {
  const { store, clock, logger } = parts;
  let why = "another hand has written since";
  try {
    if (await bounded(clock, (signal) => store.restore(base, written, signal))) return undone(base, error, parts);
  } catch (thrown) {
    why = tell(thrown);
  }
  const version = (await load(store, clock))?.version ?? written.version;
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
export async function notWritten(
  { base, tell }: SoundChange,
  { store, clock, logger }: CommitParts,
  thrown: unknown,
): Promise<Outcome> {
  const error = tell(thrown);
  const stored = await load(store, clock);
  const version = stored?.version ?? base.version;
  logger.error("a configuration could not be written", { version, error });
  const state =
    stored === undefined
      ? "what is stored cannot be read"
      : stored.revision === base.revision
        ? `nothing has changed: version ${version} is stored and runs`
        : `version ${version} is stored and does not run`;
  return {
    status: "committed_not_applied",
    version,
    error: `the configuration could not be written: ${error}; ${state}`,
  };
}
