import type { ConfigStore } from "@bridge/ports";
import type { ConfigApplier } from "./applier.ts";
import { changesBetween } from "./changes.ts";
import type { DryRun } from "./contract.ts";
import { beingCommitted, type Transaction } from "./open-transaction.ts";
import type { StoredDocuments } from "./stored-documents.ts";
import { wouldStrand } from "./would-strand.ts";

interface Parts {
  readonly store: ConfigStore;
  readonly documents: StoredDocuments;
  readonly applier: ConfigApplier | undefined;
}

/** What a commit would do now; nothing is done. @throws TransactionError conflict while it is being committed */
export async function dryRun(
  { base, pending, whole, former, state }: Transaction,
  parts: Parts,
  signal: AbortSignal,
): Promise<DryRun> {
  if (state.kind !== "open") throw beingCommitted();
  const { documents, applier } = parts;
  const { document } = pending;
  const [checked, erased] = await documents.judge({ base, whole, pending, former }, signal);
  const conflict = (await documents.find(signal))?.revision !== base.revision;
  const sound = checked.ok && erased.length === 0 ? checked : undefined;
  const stranding = sound && (await wouldStrand({ base, config: sound.config }, parts, signal));
  const plan = sound && (await applier?.plan(sound.config, signal));
  return {
    erasedOptions: erased,
    problems: checked.ok ? [] : checked.problems,
    warnings: checked.warnings,
    conflict,
    changes: await documents.slices().run(changesBetween(base.document, document), signal),
    ...(stranding !== undefined && { stranding }),
    ...(plan !== undefined && { plan }),
  };
}
