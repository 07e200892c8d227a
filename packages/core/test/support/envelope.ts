import type { Envelope } from "@bridge/ports";

export function envelopeOf(changes: Partial<Envelope> = {}): Envelope {
  return {
    id: "m1",
    sourceId: "in",
    subject: "a/b",
    contentType: "",
    headers: {},
    payload: new TextEncoder().encode("hello"),
    correlationId: "m1",
    receivedAt: 0,
    ...changes,
  };
}
