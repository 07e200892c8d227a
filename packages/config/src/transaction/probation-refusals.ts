import type { Clock, StagedConfig } from "@bridge/ports";
import { probationElsewhere } from "./probation-elsewhere.ts";
import { TransactionError } from "./transaction-error.ts";

/** What became of the version that was on probation last. */
export interface EndedProbation {
  readonly version: number;
  readonly end: "committed" | "reverted" | "superseded";
}

interface Standing {
  /** The version that is on probation here. */
  readonly open: number | undefined;
  readonly last: EndedProbation | undefined;
  readonly staged: StagedConfig | undefined;
  /** What another process has on probation that writes the same document, in words. */
  readonly beside: string | undefined;
}

/** Of a version that is not on probation here: what became of it, as far as is known, or what is. */
export function notOnProbation(
  version: number,
  { open, last, staged, beside }: Standing,
  place: { readonly instanceId: string; readonly clock: Clock },
): TransactionError {
  const end = last?.version === version ? last.end : undefined;
  if (end === "reverted") return takenBack(version);
  const other =
    open !== undefined
      ? `version ${open} is`
      : end !== undefined
        ? `version ${version} was ${end === "committed" ? "confirmed" : "replaced by another hand"}`
        : staged?.until !== undefined
          ? probationElsewhere(staged, place)
          : (beside ?? "none is");
  return elsewhere(version, other);
}

/** @param where what is on probation, and where */
function elsewhere(version: number, where: string): TransactionError {
  return new TransactionError("conflict", `version ${version} is not on probation here: ${where}`, {
    reason: "no_probation",
  });
}

export function takenBack(version: number): TransactionError {
  return new TransactionError("conflict", `version ${version} was taken back`, { reason: "reverted" });
}

export function notThere(what: string, why: string): TransactionError {
  return new TransactionError("unavailable", `${what}: ${why}: put the document in order`);
}

/** Of what is taken back, and not stored again yet. */
export function notYet(told: string): TransactionError {
  return new TransactionError("unavailable", told);
}

/** Of what may have been done although the store has not said so: whoever does it again is told. */
export async function orUnknown<Result>(doing: Promise<Result>, what: string, again: string): Promise<Result> {
  return doing.catch((error: unknown) => {
    if (error instanceof TransactionError) throw error;
    throw new TransactionError("unavailable", `${what}: ${messageOf(error)}: ${again} again`, { cause: error });
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
