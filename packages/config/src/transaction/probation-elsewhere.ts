import type { Clock, StagedConfig } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";

/**
 * More than a commit can take: a document that was staged so long ago was left behind by an instance that is gone, or that
 * will be refused its confirmation.
 */
export const LEFT_BEHIND_MS = 5 * 60_000;

/** Where a staged version is on probation, and what ends that; for whoever asks at an instance that has it not on probation. */
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
  return `version ${version} was on probation at the instance ${by} until ${end}, and that instance has not ended it: revert it at any instance; from ${leftBehind} on the next commit replaces it`;
}
