import type { OutboxClaim } from "@bridge/ports";
import { spoiledRecord } from "@bridge/ports/internal";
import { isFree, lendOne } from "./lend.ts";
import { findRecord } from "./look-up.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { recordIn } from "./record-item.ts";
import { isWhole } from "./spoiled-records.ts";

/** Lends one pending record, due or not and whatever its key. */
export async function claimOne(
  parts: OutboxParts,
  id: string,
  loanMs: number,
  signal: AbortSignal,
): Promise<OutboxClaim | undefined> {
  const stored = await findRecord(parts, id, signal);
  if (stored === undefined || stored.status !== "pending" || !isFree(parts, stored, true)) return undefined;
  const { item } = stored;
  const window = parts.lanes.of({ routeId: item["route"]?.S ?? "", bindingId: item["binding"]?.S ?? "" });
  if (window.find(stored.key)?.busy === true) return undefined;
  const refused = (): Error => {
    parts.spoiled.found(parts, window, stored);
    return spoiledRecord(id);
  };
  if (!isWhole(stored)) throw refused();
  const waiting = window.keep(stored);
  waiting.busy = true;
  try {
    const loan = await lendOne(parts, window, waiting, loanMs, signal);
    if (loan === undefined) return undefined;
    const record = recordIn(loan.stored.item);
    if (record === undefined) throw refused();
    return { record, token: loan.token, attempts: stored.attempts };
  } finally {
    waiting.busy = false;
  }
}
