import type { DeadLetter } from "@bridge/ports";

export function deadLetter(id: string, fields: Partial<Omit<DeadLetter, "envelope">> = {}, bytes = 10): DeadLetter {
  const about = { sourceId: "s", correlationId: "c", subject: "t" };
  return {
    ...about,
    id,
    routeId: "r",
    bindingId: "",
    reason: "",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "",
    failedAt: 0,
    attempts: 1,
    ...fields,
    envelope: {
      ...about,
      id: `envelope of ${id}`,
      contentType: "",
      headers: {},
      payload: new Uint8Array(bytes).fill(7),
      receivedAt: 0,
    },
  };
}
