import { confirmed, unconfirmedCommit } from "@bridge/config";
import { type ConfigHistoryEntry, type ConfigStaging, type ConfigStore, type Seams } from "@bridge/ports";
import { deadline, formatTimestamp } from "@bridge/ports/internal";
import { messageOf } from "./message-of.ts";

const TIMEOUT_MS = 10_000;

type TellSeams = Pick<Seams, "clock" | "logger">;

/**
 * Says so in the log when the version that is about to run was written by a commit that did not get to its end: its
 * process died before it was applied, or it could be neither applied nor undone. Where commits are staged, that version
 * is not the one that is about to run. Never rejects, and looks no longer once `signal` has aborted.
 */
export async function tellUnconfirmed(
  store: ConfigStore,
  version: number,
  seams: TellSeams,
  signal: AbortSignal,
): Promise<void> {
  if (store.staging !== undefined) return tellStaged(store.staging, version, seams, signal);
  await looked(store, version, seams, signal, async (entry) => {
    seams.logger.warn(
      "the configuration was written by a commit that did not get to its end: this start is the first to run it, as far as is known",
      {
        config_version: version,
        committed_at: formatTimestamp(entry.committedAt),
        actor: entry.actor,
      },
    );
  });
}

/** Notes in the history that `version` runs; where commits are staged, that is known by the store. Never rejects. */
export async function confirmRunning(store: ConfigStore, version: number, seams: TellSeams): Promise<void> {
  if (store.staging !== undefined) return;
  const never = new AbortController().signal;
  await looked(store, version, seams, never, async (entry, signal) => store.history?.append(confirmed(entry), signal));
}

async function tellStaged(
  staging: ConfigStaging,
  version: number,
  { clock, logger }: TellSeams,
  signal: AbortSignal,
): Promise<void> {
  using bound = deadline(clock, TIMEOUT_MS, new Error(`the store did not answer in ${TIMEOUT_MS / 1_000} s`));
  try {
    const staged = await staging.look(AbortSignal.any([bound.signal, signal]));
    if (staged === undefined) return;
    logger.warn(
      "another version is staged and not confirmed: it is being committed, or was left behind, and does not run",
      {
        config_version: version,
        staged_version: staged.version,
        staged_by: staged.by,
        staged_at: formatTimestamp(staged.at),
      },
    );
  } catch (error) {
    if (signal.aborted) return;
    logger.warn("whether a configuration is staged cannot be had", { error: messageOf(error) });
  }
}

async function looked(
  store: ConfigStore,
  version: number,
  { clock, logger }: TellSeams,
  signal: AbortSignal,
  found: (entry: ConfigHistoryEntry, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using bound = deadline(clock, TIMEOUT_MS, new Error(`the history did not answer in ${TIMEOUT_MS / 1_000} s`));
  try {
    const either = AbortSignal.any([bound.signal, signal]);
    // Whoever tries it out says what becomes of it.
    if (await mayBeTried(store, version, either)) return;
    const entry = await unconfirmedCommit(store, version, either);
    if (entry !== undefined) await found(entry, either);
  } catch (error) {
    if (signal.aborted) return;
    logger.warn("the history of the configuration cannot be had", { error: messageOf(error) });
  }
}

/** What a start cannot tell of, it has said. */
async function mayBeTried(store: ConfigStore, version: number, signal: AbortSignal): Promise<boolean> {
  try {
    return (await store.probations?.elsewhere?.(signal))?.probation.version === version;
  } catch {
    signal.throwIfAborted();
    return true;
  }
}
