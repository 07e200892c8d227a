import { type ConfigStaging, ReadOnlyConfigError, type StagedConfig, type StoredConfig } from "@bridge/ports";
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
import { type InTheWay, leftBehindBefore, whyNotStaged } from "./why-not-now.ts";
import { notWritten } from "./write-and-apply.ts";

export interface StagingParts extends CommitParts {
  readonly staging: ConfigStaging;
  /** Names this instance to the others. */
  readonly instanceId: string;
  /** What is stored could not be brought into force, and no watch tells of it. */
  readonly onNotInForce: () => void;
}

/**
 * Stages a change, applies it here, and confirms it: only then do other instances take it. What cannot be applied was
 * never stored. Never rejects.
 */
export async function stageAndApply(change: SoundChange, parts: StagingParts): Promise<CommitOutcome> {
  const { base, expected, document, entry, tell, trial } = change;
  const { staging, history, clock, instanceId, logger } = parts;
  const at = clock.now();
  const probation = trial && probationOf(change, trial, at);
  const until = probation && { until: probation.confirmBy };
  const request = { by: instanceId, at, leftBehindBefore: leftBehindBefore(clock), ...until };
  let staged: StagedConfig | undefined;
  try {
    staged = await bounded(clock, (signal) => staging.stage(document, expected, request, signal));
  } catch (error) {
    if (error instanceof ReadOnlyConfigError) return inStep({ status: "conflict", error: tell(error) });
    await withdraw(request, parts);
    return inStep(await notWritten(change, parts, error));
  }
  if (staged === undefined) return inStep({ status: "conflict", ...(await refusal(base, parts)) });
  await history.begin(entry, base);
  let runs: boolean;
  try {
    runs = await applied({ ...change.config, configVersion: staged.version }, parts);
    if (probation !== undefined) {
      if (runs) {
        await keepToBeMended(staged, document, parts);
        return onProbation(change, { staged, document }, probation, parts);
      }
      await applyAgain(base, parts);
      throw new Error(NOT_RUNNING);
    }
  } catch (error) {
    await bounded(clock, (signal) => staging.discard(staged, signal)).catch((thrown: unknown) => {
      // Nobody takes what is staged: it is only in the way of the next commit, until it counts as left behind.
      logger.warn("a configuration that could not be applied is still staged", { error: tell(thrown) });
    });
    const why = `the configuration could not be applied: ${tell(error)}`;
    return inStep(undone(base, why, parts));
  }
  const confirmation = await confirmed(staged, change, parts);
  if (confirmation !== "confirmed") return backInStep(change, staged, confirmation, parts);
  await history.confirm(entry);
  return inStep({ status: runs ? "committed" : "committed_applying", version: staged.version });
}

/** Before it can be taken back: whoever does that, when this process is gone, has only its name. */
async function keepToBeMended(
  { version }: StagedConfig,
  document: StoredConfig["document"],
  { store, clock, logger }: StagingParts,
): Promise<void> {
  await bounded(clock, async (signal) => store.versions?.keepReverted({ version, document }, signal)).catch(() => {
    logger.warn("what is on probation is not kept to be mended", { config_version: version });
  });
}

function inStep(result: Outcome): CommitOutcome {
  return { result, differs: false };
}

async function refusal({ version }: StoredConfig, parts: StagingParts): Promise<InTheWay> {
  const { staging, clock } = parts;
  const other = await bounded(clock, (signal) => staging.look(signal)).catch(() => undefined);
  const movedOn = { error: `the configuration moved on from version ${version}: open a new transaction` };
  return whyNotStaged(other, parts) ?? movedOn;
}

/** After a staging that failed: it may have been done all the same, and would be in the way of the next commit. */
async function withdraw({ by, at }: Pick<StagedConfig, "by" | "at">, { staging, clock }: StagingParts): Promise<void> {
  const ours = async (signal: AbortSignal): Promise<void> => {
    const staged = await staging.look(signal);
    if (staged?.by === by && staged.at === at) await staging.discard(staged, signal);
  };
  await bounded(clock, ours).catch(() => {});
}

/** Whether it is stored now; when nobody can say, why. */
async function confirmed(
  staged: StagedConfig,
  { tell }: SoundChange,
  { staging, store, clock }: StagingParts,
): Promise<"confirmed" | "refused" | { readonly unknown: string }> {
  try {
    return (await bounded(clock, (signal) => staging.confirm(staged, signal))) ? "confirmed" : "refused";
  } catch (error) {
    const stored = await load(store, clock);
    return stored?.revision === staged.revision ? "confirmed" : { unknown: tell(error) };
  }
}

/**
 * What runs here is not what is stored, or nobody knows: this instance runs again what the others run. Should it have
 * been confirmed after all, the watch of the store tells it like any other change.
 */
async function backInStep(
  change: SoundChange,
  staged: StagedConfig,
  confirmation: "refused" | { readonly unknown: string },
  parts: StagingParts,
): Promise<CommitOutcome> {
  const { base } = change;
  const stored = (await load(parts.store, parts.clock)) ?? base;
  const reason =
    confirmation === "refused"
      ? `another hand has written since version ${base.version}`
      : `version ${staged.version} could not be confirmed, and may still come into force: ${confirmation.unknown}`;
  const { version } = stored;
  const fault = await applyAgain(stored, parts);
  if (fault !== undefined) {
    const error = `${reason}; version ${staged.version} runs here, and version ${version}, which is stored, cannot be applied: ${fault}`;
    parts.logger.error("a configuration runs that is not stored, and what is stored cannot be applied", { error });
    parts.onNotInForce();
    return { result: { status: "committed_not_applied", version, error }, differs: true };
  }
  const error = `${reason}; version ${version} is stored and runs`;
  if (confirmation === "refused") return inStep({ status: "conflict", error });
  parts.logger.error("a configuration could not be confirmed", { version: staged.version, error });
  return inStep({ status: "committed_not_applied", version, error });
}
