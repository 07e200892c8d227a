import type { Clock, Probation, StagedConfig } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";

/**
 * More than a commit can take: a document that was staged so long ago was left behind by an instance that is gone, or
 * that will be refused its confirmation.
 */
export const LEFT_BEHIND_MS = 5 * 60_000;

/** As long after its end as every instance needs to hear that its committer has ended it. */
const OVERDUE_MS = 60_000;

/**
 * A probation that is over, and that the instance which had it has not ended: nobody else can tell whether it is gone
 * or slow.
 */
export interface LeftElsewhere {
  /** Epoch milliseconds: its end. */
  readonly confirmBy: number;
  /** What it is, and the ways out, for people. */
  readonly told: string;
}

/** What is staged as far as it was left behind on probation; `undefined` when it was not. */
export function leftElsewhere(
  staged: StagedConfig | undefined,
  place: { readonly instanceId: string; readonly clock: Clock },
): LeftElsewhere | undefined {
  if (staged?.until === undefined) return undefined;
  return overdue({ confirmBy: staged.until, told: probationElsewhere(staged, place) }, place.clock);
}

/** `left`, when it is over for so long that whoever had it has not ended it. */
export function overdue(left: LeftElsewhere, clock: Clock): LeftElsewhere | undefined {
  return clock.now() < left.confirmBy + OVERDUE_MS ? undefined : left;
}

/**
 * Where a staged version is on probation, and what ends that; for whoever asks at an instance that has it not on
 * probation.
 */
export function probationElsewhere(
  { version, by, until = 0 }: StagedConfig,
  { instanceId, clock }: { readonly instanceId: string; readonly clock: Clock },
): string {
  if (by === instanceId)
    return `version ${version} was staged by this instance, and no process of it has it on probation: revert it`;
  const end = formatTimestamp(until);
  if (clock.now() < until)
    return `version ${version} is on probation at the instance ${by} until ${end}: confirm it there, or revert it at any instance`;
  const leftBehind = formatTimestamp(until + LEFT_BEHIND_MS);
  return `version ${version} was on probation at the instance ${by} until ${end}, and that instance has not ended it: revert it at any instance; from ${leftBehind} on the next commit takes it back, too`;
}

/** The same of a document that processes of one machine share. */
export function probationBeside({ version, confirmBy }: Probation, source: string): string {
  return `version ${version} of ${source} is on probation in another process until ${formatTimestamp(confirmBy)}: confirm or revert it there; when that process is gone, it is taken back here by itself, or revert it here`;
}
