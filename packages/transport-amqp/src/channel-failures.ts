import { BridgeError } from "@bridge/ports";
import type { Refusal } from "./connection/refusal.ts";
import { replyError } from "./reply-codes.ts";

/** A message that was published and not confirmed when its channel was closed. */
export interface Published {
  readonly routingKey: string;
  readonly messageId: string;
  /** Bytes of its payload. */
  readonly size: number;
}

const PRECONDITION_FAILED = 406;
const TOPIC = /topic '(.*?)' in exchange/;
const TOO_LARGE = /message size \d+ (?:is larger than|exceeds).*? (?:size|limit) (\d+)/;
const WHAT = "the broker closed the channel";

/**
 * What became of each message when the broker closed the channel, which it does because of one of them and without saying
 * which. Those that its words fit are at fault. The others shared the channel with them: they are sent again, uncharged.
 *
 * `tooLarge` is told the limit when it was a message's size.
 */
export function channelFailures(
  { code, said }: Refusal,
  published: readonly Published[],
  tooLarge: (maxSize: number) => void,
): readonly BridgeError[] {
  const fault = replyError(WHAT, code, said);
  const [, limit] = TOO_LARGE.exec(said) ?? [];
  if (code === PRECONDITION_FAILED && limit !== undefined) {
    const maxSize = Number(limit);
    tooLarge(maxSize);
    return blame(
      published,
      ({ size }) => size > maxSize,
      (one) => sizeError(one.size, maxSize),
    );
  }
  const [, topic] = TOPIC.exec(said) ?? [];
  if (topic !== undefined)
    return blame(
      published,
      ({ routingKey }) => routingKey === topic,
      () => fault,
    );
  // About the exchange, which all of them go to, or the connection.
  if (code !== PRECONDITION_FAILED || published.length === 1) return published.map(() => fault);
  return published.map(() => new BridgeError("UNAVAILABLE", `${fault.message}; which message it means is not known`));
}

export function sizeError(size: number, maxSize: number): BridgeError {
  return new BridgeError("PAYLOAD_TOO_LARGE", `the payload has ${size} bytes, the broker takes ${maxSize}`);
}

function blame(
  published: readonly Published[],
  isAtFault: (one: Published) => boolean,
  fault: (one: Published) => BridgeError,
): readonly BridgeError[] {
  const bystander = new BridgeError("UNAVAILABLE", `${WHAT} because of another message`, { charged: false });
  return published.map((one) => (isAtFault(one) ? fault(one) : bystander));
}
