import type { OutboxClaim } from "@bridge/ports";
import { isFree, lendOne } from "./lend.ts";
import { findRecord } from "./look-up.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { recordIn } from "./record-item.ts";

/** Lends one pending record, due or not and whatever its key. */
export async function claimOne(
  parts: OutboxParts,
  id: string,
  loanMs: number,
  signal: AbortSignal,
): Promise<OutboxClaim | undefined> {
  const stored = await findRecord(parts, id, signal);
  if (stored === undefined || stored.status !== "pending" || !isFree(parts, stored, true)) return undefined;
  const window = parts.lanes.of(recordIn(stored.item));
  if (window.find(stored.key)?.busy === true) return undefined;
  const record = window.keep(stored);
  record.busy = true;
  try {
    const loan = await lendOne(parts, window, record, loanMs, signal);
    return loan && { record: recordIn(loan.stored.item), token: loan.token, attempts: stored.attempts };
  } finally {
    record.busy = false;
  }
}
