import { type Probation, ReadOnlyConfigError, type StoredConfig } from "@bridge/ports";
import {
  applied,
  applyAgain,
  bounded,
  type CommitOutcome,
  type CommitParts,
  load,
  NOT_RUNNING,
  onProbation,
  type Outcome,
  probationOf,
  type SoundChange,
  undone,
} from "./commit-parts.ts";
import { placesOf } from "./store-places.ts";
import { type InTheWay, whyNotBeside } from "./why-not-now.ts";

/**
 * Writes a change durably, then applies it; what cannot be applied is taken back, unless another hand has written since
 * (spec 4.9.5). Never rejects.
 */
export async function writeAndApply(change: SoundChange, parts: CommitParts): Promise<CommitOutcome> {
  let withdraw: (() => Promise<void>) | undefined;
  const announce = async (): Promise<void> => {
    withdraw = await parts.applier?.announce?.(change.config);
  };
  const outcome = await writing(change, announce, parts);
  if (["conflict", "rolled_back"].includes(outcome.result.status))
    await withdraw?.().catch(() => {
      // What is remembered in vain does no harm: the next start finds that the same stores are stored.
    });
  return outcome;
}

async function writing(change: SoundChange, announce: () => Promise<void>, parts: CommitParts): Promise<CommitOutcome> {
  const { base, expected, document, text, entry, tell, trial } = change;
  const { store, history } = parts;
  const probation = trial && {
    ...probationOf(change, trial, parts.clock.now()),
    places: await placesOfBoth(change, parts),
  };
  await history.begin(entry, base);
  let written: StoredConfig | undefined;
  try {
    await announce();
    written = await bounded(parts.clock, (signal) =>
      probation === undefined
        ? store.write(document, expected, signal, text)
        : (store.probations?.begin(document, expected, probation, signal, text) ?? Promise.resolve(undefined)),
    );
  } catch (error) {
    if (error instanceof ReadOnlyConfigError) return outcomeOf({ status: "conflict", error: tell(error) }, base);
    const result = await notWritten(change, parts, error);
    if (probation !== undefined && result.version === base.version) await forget(parts);
    return outcomeOf(result, base);
  }
  if (written === undefined) {
    return outcomeOf({ status: "conflict", ...(await refusal(base, parts)) }, base);
  }
  try {
    const runs = await applied({ ...change.config, configVersion: written.version, stored: written }, parts);
    if (probation !== undefined) {
      if (runs) return onProbation(change, { stored: written }, probation, parts);
      // What waits to come into force is not to: the newest counts.
      await applyAgain(base, parts);
      throw new Error(NOT_RUNNING);
    }
    await history.confirm(entry);
    return outcomeOf({ status: runs ? "committed" : "committed_applying", version: written.version }, base);
  } catch (error) {
    const result = await takenBack(change, written, parts, `the configuration could not be applied: ${tell(error)}`);
    // What could not be put back is put back by the next start.
    if (probation !== undefined && !("version" in result && result.version === written.version)) await forget(parts);
    return outcomeOf(result, base);
  }
}

/** What runs has the stores that `base` names. */
async function placesOfBoth(
  { base, config }: SoundChange,
  { storesOf }: CommitParts,
): Promise<Required<Probation>["places"]> {
  return { tried: placesOf(config.stores), former: placesOf(await storesOf(base.document)) };
}

async function refusal({ version }: StoredConfig, { store, clock }: CommitParts): Promise<InTheWay> {
  return (
    (await whyNotBeside(store, clock)) ?? {
      error: `the configuration moved on from version ${version}: open a new transaction`,
    }
  );
}

function outcomeOf(result: Outcome, base: StoredConfig): CommitOutcome {
  return { result, differs: "version" in result && result.version !== base.version };
}

/** That there is nothing on probation any more. */
async function forget({ store, clock }: CommitParts): Promise<void> {
  await bounded(clock, async (signal) => store.probations?.end(signal)).catch(() => {
    // The next start finds that it names another document, and removes it.
  });
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
): Promise<Outcome & { readonly version: number }> {
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
