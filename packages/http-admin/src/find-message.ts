import type { DeadLetterHead, DlqStore, OutboxHead, OutboxStore } from "@bridge/ports";
import { LIMITS } from "./limits.ts";

/** What is looked for: one of both. */
export interface Wanted {
  readonly envelopeId?: string | undefined;
  readonly correlationId?: string | undefined;
}

/** So many places are told of one message. */
const MOST = 100;
const PAGE = 1_000;

/**
 * Puts what is in the DLQ into `found`, newest first; in a store that cannot find by these, of so many entries, oldest first.
 * Resolves to whether everything was looked at.
 */
export async function findDeadLetters(
  store: DlqStore,
  wanted: Wanted,
  found: DeadLetterHead[],
  signal: AbortSignal,
): Promise<boolean> {
  if (store.page !== undefined) {
    const page = { limit: MOST, order: "newest", budget: LIMITS.traceScan } as const;
    const { entries, next } = await store.page(wanted, page, signal);
    found.push(...entries);
    return next === undefined;
  }
  return scan(
    found,
    (page) => store.list({}, page, signal),
    (head) => isWanted(head, wanted),
  );
}

/** The same for the outbox, of so many records, oldest first. */
export async function findOutboxRecords(
  store: OutboxStore,
  envelopeId: string,
  found: OutboxHead[],
  signal: AbortSignal,
): Promise<boolean> {
  return scan(
    found,
    (page) => store.list({}, page, signal),
    (head) => head.envelopeId === envelopeId,
  );
}

function isWanted(head: DeadLetterHead, { envelopeId, correlationId }: Wanted): boolean {
  return envelopeId === undefined ? head.correlationId === correlationId : head.envelopeId === envelopeId;
}

async function scan<Head>(
  found: Head[],
  list: (page: { readonly limit: number; readonly offset: number }) => Promise<readonly Head[]>,
  matches: (head: Head) => boolean,
): Promise<boolean> {
  for (let offset = 0; offset < LIMITS.traceScan; offset += PAGE) {
    const heads = await list({ limit: PAGE, offset });
    found.push(...heads.filter(matches).slice(0, MOST - found.length));
    if (heads.length < PAGE) return true;
    if (found.length >= MOST) break;
  }
  return false;
}
