import { BridgeError, type LeaseRecord } from "@bridge/ports";
import type { Item } from "../client/batches.ts";

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

/**
 * A record that cannot be read is nobody's to take: of an item without a holder or an end, two instances would each think that it is free.
 * @throws BridgeError `UNAVAILABLE` when somebody has changed the item to what is no record
 */
export function recordOf(item: Item): LeaseRecord {
  const record = {
    holder: item["holder"]?.S,
    token: Number(item["token"]?.N),
    beat: Number(item["beat"]?.N),
    ttlMs: Number(item["ttl_ms"]?.N),
  };
  const { holder, ...numbers } = record;
  if (holder !== undefined && Object.values(numbers).every((value) => Number.isSafeInteger(value) && value >= 0))
    return { holder, ...numbers };
  const key = JSON.stringify(item["lease_key"]?.S ?? "");
  throw new BridgeError(
    "UNAVAILABLE",
    `the item of lease ${key} is none of a lease: somebody has changed it. Put back a text as holder, and numbers as token, beat and ttl_ms; ` +
      "the token has to be above every one before",
    { charged: false },
  );
}
