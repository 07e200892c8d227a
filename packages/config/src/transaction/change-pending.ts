import { isDeepStrictEqual } from "node:util";
import type { StoredConfig } from "@bridge/ports";
import { jsonInSlices } from "@bridge/ports/internal";
import type { Problem } from "../problem.ts";
import type { Patched } from "./contract.ts";
import type { Written } from "./document-texts.ts";
import { newReferences } from "./new-references.ts";
import { beingCommitted, type OpenTransaction, type Transaction } from "./open-transaction.ts";
import { type Fault, OverlayError } from "./overlay-error.ts";
import { tooManyParts } from "./too-many-parts.ts";
import type { StoredDocuments } from "./stored-documents.ts";

/** What a transaction is to become, asked again when another change was quicker; `whole` when all of it was sent. */
export type Change = (
  transaction: Transaction,
  signal: AbortSignal,
) => Promise<{ readonly pending: Written; readonly whole?: StoredConfig["document"] }>;

interface ChangeParts {
  readonly open: OpenTransaction;
  readonly documents: StoredDocuments;
  readonly maxDocumentBytes: number;
}

/**
 * Makes a change of what is pending by then, once all is known that is said of it, within 30 s in all.
 * @throws OverlayError when it brings what no change may; TransactionError when the transaction has ended meanwhile, or
 * is being committed; whatever else keeps it from being judged. Nothing changes then.
 */
export function changePending(
  transaction: Transaction,
  change: Change,
  parts: ChangeParts,
  signal: AbortSignal,
): Promise<Patched> {
  return parts.documents.within(signal, (bound) => changed(transaction, change, parts, bound));
}

async function changed(
  transaction: Transaction,
  change: Change,
  parts: ChangeParts,
  signal: AbortSignal,
): Promise<Patched> {
  const { open, documents, maxDocumentBytes } = parts;
  const { id, base, pending: before, former } = transaction;
  const { pending, whole = transaction.whole } = await change(transaction, signal);
  const { document } = pending;
  // Before all that looks at each part.
  const beyond = tooManyParts(base.document, document);
  if (beyond.length > 0) throw new OverlayError(beyond);
  const slices = documents.slices();
  const references = await slices.run(newReferences(base.document, document, former?.document), signal);
  const faults: readonly Fault[] = [...references, ...ownConfig(base.document, document)];
  if (faults.length > 0) throw new OverlayError(faults);
  if ((await jsonInSlices(document, slices)).byteLength > maxDocumentBytes)
    throw new OverlayError([{ path: [], message: `the configuration would have more than ${maxDocumentBytes} bytes` }]);
  const [checked, erased] = await documents.judge({ base, whole, pending, former }, signal);
  const preview = await documents.view(document);
  signal.throwIfAborted();
  if (open.find(id).state.kind !== "open") throw beingCommitted();
  // Another change was quicker: this one is on top of it.
  if (transaction.pending !== before) return changed(transaction, change, parts, signal);
  transaction.pending = pending;
  transaction.whole = whole;
  transaction.patchCount++;
  const refused = erased.map((path) => ({ path, message: "would be erased: the commit will be refused" }));
  return { preview, problems: checked.ok ? [] : checked.problems, warnings: [...refused, ...checked.warnings] };
}

/** What says what a change may do is not for changes to say. */
function ownConfig(before: StoredConfig["document"], after: StoredConfig["document"]): readonly Problem[] {
  if (isDeepStrictEqual(before["config"], after["config"])) return [];
  return [{ path: ["config"], message: "changes in the document itself, not over the admin API" }];
}
