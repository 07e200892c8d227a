import type { CommitOutcome, SoundChange } from "./commit-parts.ts";
import { stageAndApply, type StagingParts } from "./stage-and-apply.ts";
import { writeAndApply } from "./write-and-apply.ts";

/** Brings a change into force, and into the store: staged first where instances share it. Never rejects. */
export async function commitChange(change: SoundChange, parts: Omit<StagingParts, "staging">): Promise<CommitOutcome> {
  const { staging } = parts.store;
  if (staging !== undefined) return stageAndApply(change, { ...parts, staging });
  return writeAndApply(change, parts);
}
