import type { Writable } from "node:stream";
import type { PublishFields } from "./channel-publish.ts";
import { publishFrames } from "./publish-frames.ts";

/** What the library's connections have for messages. When one is closed, it makes a refusal of `sendMessage`, of ours too. */
export interface MessageWriter {
  readonly frameMax: number;
  readonly stream: Pick<Writable, "cork" | "uncork">;
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
 * Lets messages go to the socket as {@link publishFrames}, all of one turn of the event loop in one call to the system. The
 * library has each pass a stream of its channel first. What follows on the channel still takes that way, and so is never
 * ahead of them.
 */
export function publishDirectly(connection: MessageWriter): void {
  const { stream } = connection;
  let isCorked = false;
  function uncork(): void {
    isCorked = false;
    stream.uncork();
  }
  connection.sendMessage = (channel, _method, fields, _properties, _same, payload) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      // Messages of many sources, such as connections, come up one after another in a turn.
      setImmediate(uncork);
    }
    connection.sendBytes(publishFrames(channel, fields, payload, connection.frameMax));
  };
}
