import type { ClaimRequest, OutboxClaim } from "@bridge/ports";
import { look, read } from "./discover.ts";
import type { LaneWindow } from "./lane-window.ts";
import { lend } from "./lend.ts";
import { SHARDS } from "./names.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { pick } from "./pick.ts";
import { recordIn } from "./record-item.ts";

/** While there is enough to do, others' records are looked for so often, in one shard after the other. */
const LOOK_MS = 1_000;
/** After so many looks in a row that found nothing, the index is looked into so often only. */
const EAGER = 8;
const IDLE_LOOK_MS = 2_000;
const READ_AT_LEAST = 25;

/** Lends what may be sent, oldest first: what is known to wait, and when that is nothing, what the table has. */
export async function claim(
  parts: OutboxParts,
  { routeId, bindingId, limit, loanMs }: ClaimRequest,
  signal: AbortSignal,
): Promise<readonly OutboxClaim[]> {
  if (limit <= 0) return [];
  const window = parts.lanes.of({ routeId, bindingId });
  const due = parts.clock.monotonic() - window.lookedAt >= LOOK_MS;
  if (due && window.records().length > 0) await look(parts, window, limit, [window.nextShard()], signal);
  if (window.unreadCount > 0) await read(parts, window, Math.max(limit, READ_AT_LEAST), signal);
  const claims = await claimKnown(parts, window, limit, loanMs, signal);
  if (claims.length > 0) return claims;
  return claimFound(parts, window, limit, loanMs, signal);
}

async function claimFound(
  parts: OutboxParts,
  window: LaneWindow,
  limit: number,
  loanMs: number,
  signal: AbortSignal,
): Promise<readonly OutboxClaim[]> {
  // Of callers at once one looks; what it finds is for all.
  if (window.looking !== undefined) {
    await window.looking.catch(() => {});
    return claimKnown(parts, window, limit, loanMs, signal);
  }
  const since = parts.clock.monotonic() - window.lookedAt;
  if (window.idleLooks >= EAGER && since > 0 && since < IDLE_LOOK_MS) return [];
  window.idleLooks++;
  let shards: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);
  do {
    window.looking = lookInto(parts, window, limit, shards, signal).then((more) => void (shards = more));
    try {
      await window.looking;
    } catch (error) {
      // It has not found nothing: the next caller is to hear whether that lasts, too.
      window.idleLooks = 0;
      throw error;
    } finally {
      window.looking = undefined;
    }
    const claims = await claimKnown(parts, window, limit, loanMs, signal);
    if (claims.length > 0) {
      window.idleLooks = 0;
      return claims;
    }
  } while (shards.length > 0);
  return [];
}

/** Returns the shards that have more. */
async function lookInto(
  parts: OutboxParts,
  window: LaneWindow,
  limit: number,
  shards: readonly number[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const more = await look(parts, window, limit, shards, signal);
  // What others had when it was seen may be finished by now.
  for (const record of [...window.blockers].slice(0, limit)) window.unread(record);
  await read(parts, window, Math.max(limit, READ_AT_LEAST), signal);
  return more;
}

async function claimKnown(
  parts: OutboxParts,
  window: LaneWindow,
  limit: number,
  loanMs: number,
  signal: AbortSignal,
): Promise<readonly OutboxClaim[]> {
  const claims: OutboxClaim[] = [];
  while (claims.length < limit) {
    const picked = await pick(parts, window, limit - claims.length, signal);
    if (picked.length === 0) break;
    const loans = await lend(parts, window, picked, loanMs, signal);
    for (const { stored, token } of loans) {
      const record = recordIn(stored.item);
      if (record === undefined) parts.spoiled.found(parts, window, stored);
      else claims.push({ record, token, attempts: stored.attempts });
    }
    if (loans.length === 0) break;
  }
  return claims;
}
