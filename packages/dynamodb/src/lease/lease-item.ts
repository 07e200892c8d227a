import type { Item } from "../client/batches.ts";
import type { LeaseRecord } from "@bridge/ports";

/** The record as it is stored; `written` tells this write from every other. */
export function itemOf(key: string, { holder, token, beat, ttlMs }: LeaseRecord, written: string): Item {
  return {
    lease_key: { S: key },
    holder: { S: holder },
    token: { N: String(token) },
    beat: { N: String(beat) },
    ttl_ms: { N: String(ttlMs) },
    written: { S: written },
  };
}

export function recordOf(item: Item): LeaseRecord {
  const { holder, token, beat, ttl_ms: ttlMs } = item;
  return { holder: holder?.S ?? "", token: Number(token?.N), beat: Number(beat?.N), ttlMs: Number(ttlMs?.N) };
}
