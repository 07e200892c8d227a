import type { DeadLetter, Envelope } from "@bridge/ports";

export type Fields = Partial<Omit<DeadLetter, "envelope">> & { readonly envelope?: Partial<Envelope> };

/** An entry that failed at 1,000; what a test does not care about has a default. */
export function deadLetter(id: string, { envelope, ...fields }: Fields = {}): DeadLetter {
  const about = { sourceId: "in", correlationId: "c", subject: "s" };
  return {
    ...about,
    id,
    routeId: "route",
    bindingId: "",
    reason: "",
    category: "permanent",
    errorCode: "FORBIDDEN",
    lastError: "",
    failedAt: 1_000,
    attempts: 1,
    ...fields,
    envelope: {
      ...about,
      id: `m-${id}`,
      contentType: "",
      headers: {},
      payload: new Uint8Array(),
      receivedAt: 0,
      ...envelope,
    },
  };
}
