import type { Clock, ConfigStore, Logger, Reversal, StagedConfig } from "@bridge/ports";
import { CommitHistory } from "./commit-history.ts";
import { bounded } from "./commit-parts.ts";
import type { Reverted } from "./on-probation.ts";
import { messageOf, orUnknown } from "./probation-refusals.ts";
import { leftBehindBefore } from "./why-not-now.ts";

interface Seams {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * At a start, before anything is committed here: what this instance has on probation in the shared store is of a
 * process that has ended, and is taken back. Never rejects: then it stays staged, in the way of commits, until an
 * operator takes it back.
 */
export async function settleStaged(
  store: ConfigStore,
  instanceId: string,
  seams: Seams,
): Promise<Reverted | undefined> {
  try {
    const staged = await bounded(seams.clock, async (signal) => store.staging?.look(signal));
    if (staged?.by !== instanceId || staged.until === undefined) return undefined;
    return await endStaged(staged, { why: "process_ended" }, store, seams);
  } catch (error) {
    seams.logger.error("whether this instance has left a configuration on probation cannot be told: take it back", {
      error: messageOf(error),
    });
    return undefined;
  }
}

/**
 * Takes back what an operator names, if another process has it on probation; `undefined` when none has.
 * @throws TransactionError unavailable, when the store does not say what became of it
 */
export async function revertElsewhere(
  version: number,
  detail: string,
  store: ConfigStore,
  seams: Seams,
): Promise<Reverted | undefined> {
  const reverting = async (): Promise<Reverted | undefined> => {
    const staged = await bounded(seams.clock, async (signal) => store.staging?.look(signal));
    if (staged?.version !== version || staged.until === undefined) return undefined;
    return endStaged(staged, { why: "operator", detail }, store, seams);
  };
  return orUnknown(reverting(), `whether version ${version} is taken back is not known`, "take it back");
}

/**
 * Before a commit replaces what another instance had on probation and has not ended for too long: it is taken back, so
 * that nobody takes the one for the other under the same version. `undefined` when there is no such thing, or the store
 * does not say: then it is replaced.
 */
export async function endLeftBehind(store: ConfigStore, seams: Seams): Promise<Reverted | undefined> {
  try {
    const staged = await bounded(seams.clock, async (signal) => store.staging?.look(signal));
    if (staged?.until === undefined || staged.until >= leftBehindBefore(seams.clock)) return undefined;
    return await endStaged(staged, { why: "not_confirmed" }, store, seams);
  } catch (error) {
    seams.logger.warn("what another instance has left on probation is replaced without being taken back", {
      error: messageOf(error),
    });
    return undefined;
  }
}

/**
 * Takes back what was staged by a process other than this one. Nothing is brought into force: nobody else runs it, and
 * a committer that is alive finds at its next look that it is staged no more. `undefined` when somebody else has
 * confirmed it, or taken it back.
 */
async function endStaged(
  staged: StagedConfig,
  reversal: Reversal,
  store: ConfigStore,
  { clock, logger }: Seams,
): Promise<Reverted | undefined> {
  const history = new CommitHistory(store, clock, logger);
  const { version, by } = staged;
  const entry = (await history.pending(version)) ?? {
    version,
    committedAt: staged.at,
    actor: "unknown",
    changes: [],
  };
  const formerVersion = (await bounded(clock, (signal) => store.load(signal)))?.version ?? 0;
  if ((await bounded(clock, async (signal) => store.staging?.discard(staged, signal))) !== true) return undefined;
  const at = clock.now();
  await history.revert({ ...entry, reverted: { at, ...reversal } });
  logger.error("a configuration on probation was taken back: only the instance that committed it ran it", {
    config_version: version,
    former_version: formerVersion,
    instance_id: by,
    why: reversal.why,
  });
  return { ...reversal, version, formerVersion, actor: entry.actor, at };
}
