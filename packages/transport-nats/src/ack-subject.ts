/** What JetStream says of a message, in the subject that it is settled on. */
export interface DeliveryInfo {
  readonly stream: string;
  /** How often it was handed out, this time included. */
  readonly deliveryCount: number;
  /** Its place in the stream. */
  readonly sequence: number;
  /** The same as it is written: the platform keeps the text that it makes of a number for long. */
  readonly place: string;
  /** When the stream took it, in nanoseconds since 1970, as it is written. */
  readonly timestamp: string;
}

/** `$JS.ACK.<stream>.<consumer>.<count>.<sequence>.<consumer's sequence>.<time>.<pending>` */
const TOKENS = 9;
/** `$JS.ACK.<domain>.<account>.<stream>.…`, which later servers write, with a token more at its end. */
const TOKENS_WITH_DOMAIN = 11;
const PREFIX = "$JS.ACK.";

/** Reads it; `undefined` when it is none. It is read for each message, so only what is asked for is cut out. */
export function parseAckSubject(subject: string): DeliveryInfo | undefined {
  if (!subject.startsWith(PREFIX)) return undefined;
  const tokens = countTokens(subject);
  if (tokens !== TOKENS && tokens < TOKENS_WITH_DOMAIN) return undefined;
  const stream = tokens === TOKENS ? PREFIX.length : after(subject, after(subject, PREFIX.length));
  const consumer = after(subject, stream);
  const count = after(subject, consumer);
  const sequenceAt = after(subject, count);
  const next = after(subject, sequenceAt);
  const time = after(subject, next);
  const deliveryCount = Number(subject.slice(count, sequenceAt - 1));
  const place = subject.slice(sequenceAt, next - 1);
  const sequence = Number(place);
  if (!Number.isSafeInteger(deliveryCount) || !Number.isSafeInteger(sequence) || deliveryCount < 1) return undefined;
  return {
    stream: subject.slice(stream, consumer - 1),
    deliveryCount,
    sequence,
    place,
    timestamp: subject.slice(time, subject.indexOf(".", time)),
  };
}

/**
 * A subject of the same consumer that settles nothing, to find out whether one may publish there; `undefined` when this is
 * none of a message of it.
 */
export function probeSubject(subject: string, stream: string, consumer: string): string | undefined {
  const isOne = subject.startsWith(PREFIX) && subject.includes(`.${stream}.${consumer}.`);
  return isOne ? subject.replace(/(?:\.\d+){5}$/, ".0".repeat(5)) : undefined;
}

function countTokens(subject: string): number {
  let tokens = 1;
  for (let dot = subject.indexOf("."); dot >= 0; dot = subject.indexOf(".", dot + 1)) tokens++;
  return tokens;
}

/** Where the token begins that follows the one at `at`. */
function after(subject: string, at: number): number {
  return subject.indexOf(".", at) + 1;
}
