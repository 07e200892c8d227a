import { type CodePayload, encodePayload, type SourceMessage } from "@bridge/ports";
import { MESSAGE_MEMBERS, onlyKnown } from "@bridge/ports/internal";

import { kindOf } from "./kind-of.ts";

/** A message that is put into a route. */
export interface InjectedMessage extends Omit<SourceMessage, "payload" | "subject"> {
  /** Text, bytes or a JSON value. A JSON value has the content type `application/json` unless another is given. */
  readonly payload: CodePayload;
  /** Default: empty. */
  readonly subject?: string | undefined;
}

/** Converts the message to what a source would hand over. @throws TypeError naming a field that is invalid or unknown */
export function sourceMessageOf(message: InjectedMessage): SourceMessage {
  if (typeof message !== "object" || message === null)
    throw new TypeError(`message is ${kindOf(message)}: give it an object, such as { payload: "hello" }`);
  onlyKnown("a message", message, MESSAGE_MEMBERS);
  const { payload, contentType } = encodePayload(message.payload);
  return { ...message, subject: message.subject ?? "", payload, contentType: message.contentType ?? contentType };
}
