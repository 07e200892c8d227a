import type { OutboxClaim, OutboxRecord, OutboxStore } from "@bridge/ports";

export const PLACE = { routeId: "route", bindingId: "binding" } as const;

export function recordOf(name: string, fields: Partial<OutboxRecord> = {}, bytes = 256): OutboxRecord {
  return {
    id: `record-${name}`,
    ...PLACE,
    address: "orders/7",
    payloadDigest: "0123456789abcdef".repeat(4),
    createdAt: 1_767_225_600_000,
    envelope: {
      id: `message-${name}`,
      sourceId: "in",
      subject: "orders",
      contentType: "application/json",
      headers: {},
      payload: new Uint8Array(bytes).fill(7),
      correlationId: `message-${name}`,
      receivedAt: 1_767_225_600_000,
    },
    ...fields,
  };
}

export function claimAll(store: OutboxStore, signal: AbortSignal, limit = 100, loanMs = 60_000) {
  return store.claim({ ...PLACE, limit, loanMs }, signal);
}

export function done({ record: { id }, token }: OutboxClaim) {
  return { id, token, outcome: { kind: "done" } } as const;
}

export function idsOf(claims: readonly OutboxClaim[]): readonly string[] {
  return claims.map(({ record: { id } }) => id);
}
