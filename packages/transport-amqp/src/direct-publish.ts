import type { PublishFields } from "./channel-publish.ts";
import { publishFrames } from "./publish-frames.ts";

/** What the library's connections have for messages, all of it replaced by refusals when they are closed. */
export interface MessageWriter {
  readonly frameMax: number;
  sendBytes(bytes: Buffer): void;
  sendMessage(
    channel: number,
    method: unknown,
    fields: PublishFields,
    properties: unknown,
    same: PublishFields,
    payload: Buffer,
  ): void;
}

/**
 * Lets messages go to the socket straight away, as {@link publishFrames}. The library has each pass a stream of its channel
 * first, from where it is joined with others in a later turn; what follows on the channel still takes that way,
 * and so is never ahead of them.
 */
export function publishDirectly(connection: MessageWriter): void {
  connection.sendMessage = (channel, _method, fields, _properties, _same, payload) => {
    connection.sendBytes(publishFrames(channel, fields, payload, connection.frameMax));
  };
}
