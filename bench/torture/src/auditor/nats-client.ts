import { type JetStreamClient, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { SOURCE_STREAM, TARGET_STREAM } from "../bridge/document.ts";

const RECONNECT_MS = 100;
const PING_MS = 1_000;

/** A connection of the auditor's own to a NATS server, which is made again whenever it is lost. */
function connectTo(port: number) {
  return connect({
    servers: `127.0.0.1:${port}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
  });
}

/** Makes a stream, and returns a client to it. */
export async function openStream(
  port: number,
  { name, subjects }: typeof SOURCE_STREAM | typeof TARGET_STREAM,
): Promise<JetStreamClient> {
  const connection = await connectTo(port);
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name, subjects: [subjects] });
  return jetstream(connection);
}
