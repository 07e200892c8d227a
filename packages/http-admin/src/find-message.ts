import type { DeadLetterHead, DlqStore, OutboxHead, OutboxStore } from "@bridge/ports";
import { LIMITS } from "./limits.ts";

/** What is looked for: one of both. */
export interface Wanted {
  readonly envelopeId?: string | undefined;
  readonly correlationId?: string | undefined;
}

export interface Found<Head> {
  readonly found: readonly Head[];
  /** Whether everything was looked at. */
  readonly complete: boolean;
}

/** So many places are told of one message. */
const MOST = 100;
const PAGE = 1_000;

/** Looks in the DLQ, newest first; in a store that cannot find by these, at so many entries, oldest first. */
export async function findDeadLetters(
  store: DlqStore,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Found<DeadLetterHead>> {
  if (store.page !== undefined) {
    const found: DeadLetterHead[] = [];
    const page = { limit: MOST, order: "newest", budget: LIMITS.traceScan } as const;
    const { entries, next } = await store.page(wanted, page, signal);
    found.push(...entries);
    return { found, complete: next === undefined };
  }
  return scan(
    (page) => store.list({}, page, signal),
    (head) => isWanted(head, wanted),
  );
}

/** Looks in the outbox, at so many records, oldest first. */
export async function findOutboxRecords(
  store: OutboxStore,
  envelopeId: string,
  signal: AbortSignal,
): Promise<Found<OutboxHead>> {
  return scan(
    (page) => store.list({}, page, signal),
    (head) => head.envelopeId === envelopeId,
  );
}

function isWanted(head: DeadLetterHead, { envelopeId, correlationId }: Wanted): boolean {
  return envelopeId === undefined ? head.correlationId === correlationId : head.envelopeId === envelopeId;
}

async function scan<Head>(
  list: (page: { readonly limit: number; readonly offset: number }) => Promise<readonly Head[]>,
  matches: (head: Head) => boolean,
): Promise<Found<Head>> {
  const found: Head[] = [];
  for (let offset = 0; offset < LIMITS.traceScan; offset += PAGE) {
    const heads = await list({ limit: PAGE, offset });
    found.push(...heads.filter(matches));
    if (heads.length < PAGE) return { found: found.slice(0, MOST), complete: true };
    if (found.length >= MOST) break;
  }
  return { found: found.slice(0, MOST), complete: false };
}
