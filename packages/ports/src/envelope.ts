import type { MessageHeaders } from "./headers.ts";

/** A message inside the bridge. Immutable: a changed message is a new envelope. Times are epoch milliseconds. */
export interface Envelope {
  /** Identity of the message; never empty. Minted by the bridge, and marked so, when the source has no stable one. */
  readonly id: string;
  /** The receiver that took the message in, or `inject`. */
  readonly sourceId: string;
  readonly subject: string;
  /** MIME type of the payload; empty when the source named none. */
  readonly contentType: string;
  readonly headers: MessageHeaders;
  readonly payload: Uint8Array;
  /** The source's correlation id, else the envelope id. */
  readonly correlationId: string;
  readonly receivedAt: number;
  /** A message that is later than this is never sent. */
  readonly expiresAt?: number;
}

/** What a source hands over: raw, not yet normalised. Header names may have any letter case. */
export interface SourceMessage {
  /** The source's stable identity of the message; absent when it has none. An empty string counts as absent. */
  readonly id?: string | undefined;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly contentType?: string | undefined;
  readonly correlationId?: string | undefined;
  /** The transport's own deduplication key, when it differs from or stands in for `id`. */
  readonly dedupId?: string | undefined;
  readonly orderingKey?: string | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined;
}
