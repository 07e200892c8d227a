import type { SoundChange } from "./commit-parts.ts";
import { type StagedOutcome, stageAndApply, type StagingParts } from "./stage-and-apply.ts";
import { writeAndApply } from "./write-and-apply.ts";

/** Brings a change into force, and into the store: staged first where instances share it. Never rejects. */
export async function commitChange(change: SoundChange, parts: Omit<StagingParts, "staging">): Promise<StagedOutcome> {
  const { staging } = parts.store;
  if (staging !== undefined) return stageAndApply(change, { ...parts, staging });
  const result = await writeAndApply(change, parts);
  return { result, differs: "version" in result && result.version !== change.base.version };
}
