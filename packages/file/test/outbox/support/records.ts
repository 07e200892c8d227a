import type { ClaimEnd, OutboxClaim, OutboxRecord } from "@bridge/ports";

export const ROUTE = { routeId: "route", bindingId: "binding" } as const;

export function outboxRecord(id: string, fields: Partial<OutboxRecord> = {}, bytes = 10): OutboxRecord {
  return {
    ...ROUTE,
    id,
    address: "address",
    payloadDigest: "digest",
    createdAt: 1_000,
    envelope: {
      id: `envelope of ${id}`,
      sourceId: "source",
      subject: "subject",
      contentType: "",
      headers: { name: "value" },
      payload: new Uint8Array(bytes).fill(7),
      correlationId: "correlation",
      receivedAt: 900,
    },
    ...fields,
  };
}

export function end({ record, token }: OutboxClaim, outcome: ClaimEnd["outcome"]): ClaimEnd {
  return { id: record.id, token, outcome };
}
