import type { SourceMessage } from "./envelope.ts";

/** Each of them: the compiler says when one is missing here. */
const MEMBERS: Readonly<Record<keyof SourceMessage, true>> = {
  id: true,
  subject: true,
  payload: true,
  headers: true,
  contentType: true,
  correlationId: true,
  dedupId: true,
  orderingKey: true,
  expiresAt: true,
};

/** What a message may have that a program hands over. */
export const MESSAGE_MEMBERS: readonly string[] = Object.keys(MEMBERS);
