import { type CodePayload, encodePayload, type SourceMessage } from "@bridge/ports";
import { MESSAGE_MEMBERS, onlyKnown } from "@bridge/ports/internal";

import { kindOf } from "./kind-of.ts";

/** A message that is put into a route. */
export interface InjectedMessage extends Omit<SourceMessage, "payload" | "subject"> {
  /** Text, bytes, or a JSON value, whose content type is `application/json` unless another is given. */
  readonly payload: CodePayload;
  /** Default: empty. */
  readonly subject?: string | undefined;
}

/** The same, as a source would hand it over. @throws TypeError naming the field that no message can have, or what is none */
export function sourceMessageOf(message: InjectedMessage): SourceMessage {
  if (typeof message !== "object" || message === null)
    throw new TypeError(`message is ${kindOf(message)}: give it an object, such as { payload: "hello" }`);
  onlyKnown("a message", message, MESSAGE_MEMBERS);
  const { payload, contentType } = encodePayload(message.payload);
  return { ...message, subject: message.subject ?? "", payload, contentType: message.contentType ?? contentType };
}
