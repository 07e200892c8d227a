import { kindOf, MESSAGE_MEMBERS, onlyKnown } from "@bridge/ports/internal";
import { type CodePayload, encodePayload, type SourceMessage } from "@bridge/ports";

/** A message for a bridge under test. */
export interface TestMessage extends Omit<SourceMessage, "subject" | "payload"> {
  /** Text, bytes or a JSON value, which is sent as `application/json` unless `contentType` says otherwise. Default: empty. */
  readonly payload?: CodePayload;
  /** Default: the channel's name. */
  readonly subject?: string;
}

/** A message that a bridge under test has put into a channel. */
export interface ReceivedMessage extends SourceMessage {
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The payload as text in UTF-8. */
  text(): string;
  /** The payload as JSON. Nothing looks whether it is a `T`. @throws SyntaxError when it is no JSON */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what callers write instead of a cast
  json<T = unknown>(): T;
}

/** As a channel takes it. @throws TypeError naming what of the payload is neither text nor bytes nor a JSON value */
export function publishable(message: TestMessage) {
  if (typeof message !== "object" || message === null)
    throw new TypeError(`message is ${kindOf(message)}: give it an object, such as { payload: "hello" }`);
  const given = Object.entries(message).filter(([, value]) => typeof value !== "function"); // Those of what was received.
  onlyKnown("a message", Object.fromEntries(given), MESSAGE_MEMBERS);
  const { payload = "", ...rest } = message;
  const encoded = encodePayload(payload);
  return { contentType: encoded.contentType, ...rest, payload: encoded.payload };
}

export function received(message: SourceMessage): ReceivedMessage {
  const text = (): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(message.payload);
  const json: ReceivedMessage["json"] = () => JSON.parse(new TextDecoder().decode(message.payload)) as never;
  return { ...message, headers: message.headers ?? {}, text, json };
}
