import type { Random } from "@bridge/ports";
import type { ConfigView } from "./contract.ts";
import type { OpenTransaction, Transaction } from "./open-transaction.ts";
import { readWithin } from "./read-within.ts";
import type { StoredDocuments } from "./stored-documents.ts";
import { TransactionError } from "./transaction-error.ts";
import { type Place, whyNotNow } from "./why-not-now.ts";

interface BeginParts {
  readonly open: OpenTransaction;
  readonly documents: StoredDocuments;
  readonly place: Place;
  readonly random: Random;
}

/**
 * Opens a transaction on what is stored by now, as it is to be seen. `fromVersion`: it begins with the document of that
 * version.
 * @throws TransactionError conflict while another is open, or another instance is changing what is stored
 */
export async function beginTransaction(
  { ttlMs, fromVersion }: { readonly ttlMs: number; readonly fromVersion: number | undefined },
  { open, documents, place, random }: BeginParts,
  signal: AbortSignal,
): Promise<{ readonly transaction: Transaction; readonly config: ConfigView }> {
  const { clock } = place;
  open.refuseSecond();
  const base = await documents.load(signal);
  const refusal = await readWithin(clock, signal, (bound) => whyNotNow(base, place, bound));
  if (refusal !== undefined) {
    const { error, ...reason } = refusal;
    throw new TransactionError("conflict", error, reason);
  }
  const former = fromVersion === undefined ? undefined : await documents.former(fromVersion, base, signal);
  const pending = former?.pending ?? { document: base.document, text: undefined };
  const config = await documents.view(pending.document);
  open.refuseSecond();
  const createdAt = clock.now();
  const transaction: Transaction = {
    id: random.id(),
    version: base.version,
    createdAt,
    expiresAt: createdAt + ttlMs,
    base,
    expiresAtMonotonic: clock.monotonic() + ttlMs,
    state: { kind: "open" },
    pending,
    whole: pending.document,
    former: former?.stored,
    patchCount: 0,
  };
  open.begin(transaction);
  return { transaction, config };
}
