/** What JetStream says of a message, in the subject that it is settled on. */
export interface DeliveryInfo {
  readonly stream: string;
  /** How often it was handed out, this time included. */
  readonly deliveryCount: number;
  /** Its place in the stream. */
  readonly sequence: number;
  /** When the stream took it, in nanoseconds since 1970, as it is written. */
  readonly timestamp: string;
}

/** `$JS.ACK.<stream>.<consumer>.<count>.<sequence>.<consumer's sequence>.<time>.<pending>` */
const TOKENS = 9;
/** `$JS.ACK.<domain>.<account>.<stream>.…`, which later servers write, with a token more at its end. */
const TOKENS_WITH_DOMAIN = 11;

/** Reads it; `undefined` when it is none. */
export function parseAckSubject(subject: string): DeliveryInfo | undefined {
  if (!subject.startsWith("$JS.ACK.")) return undefined;
  const tokens = subject.split(".");
  if (tokens.length !== TOKENS && tokens.length < TOKENS_WITH_DOMAIN) return undefined;
  const at = tokens.length === TOKENS ? 2 : 4;
  const deliveryCount = Number(tokens[at + 2]);
  const sequence = Number(tokens[at + 3]);
  if (!Number.isSafeInteger(deliveryCount) || !Number.isSafeInteger(sequence) || deliveryCount < 1) return undefined;
  return { stream: tokens[at] ?? "", deliveryCount, sequence, timestamp: tokens[at + 5] ?? "" };
}
