import { setTimeout as sleep } from "node:timers/promises";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";

const RECONNECT_MS = 100;
const CONNECT_TIMEOUT_MS = 5_000;
const HEARTBEAT_S = 3;

/**
 * A connection of the auditor's own to a RabbitMQ, made again whenever it is lost; each new one is given to `use`. Resolves
 * when it has been used once.
 */
export function keepConnected(port: number, use: (channel: ConfirmChannel) => Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    void (async () => {
      for (;;) {
        await connectOnce(port, async (channel) => {
          await use(channel);
          resolve();
        }).catch(() => {});
        await sleep(RECONNECT_MS);
      }
    })();
  });
}

/** One connection, from its beginning to its end. */
async function connectOnce(port: number, use: (channel: ConfirmChannel) => Promise<void>): Promise<void> {
  const connection: ChannelModel = await connect(
    { hostname: "127.0.0.1", port, heartbeat: HEARTBEAT_S },
    { timeout: CONNECT_TIMEOUT_MS, noDelay: true },
  );
  connection.on("error", () => {});
  const closed = new Promise<void>((resolve) => void connection.once("close", () => resolve()));
  try {
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => {});
    // Without its channel the connection is of no use.
    channel.once("close", () => void connection.close().catch(() => {}));
    await use(channel);
    await closed;
  } catch (error) {
    await connection.close().catch(() => {});
    throw error;
  }
}
