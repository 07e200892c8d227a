import { env } from "node:process";
import { type JetStreamClient, jetstream, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { listens } from "./listens.ts";

const REAL = { host: "127.0.0.1", port: 4222 };

/** For `describe.skipIf`: whether there is no NATS, and there need not be one. */
export const noNats = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await listens(REAL));

/** Another program at NATS. */
export interface Nats extends AsyncDisposable {
  readonly url: string;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  /** What a stream holds. */
  texts(stream: string): Promise<readonly string[]>;
}

/** `streams` are deleted in the end. */
export async function openNats(...streams: readonly string[]): Promise<Nats> {
  const connection = await connect({ servers: `${REAL.host}:${REAL.port}` });
  const manager = await jetstreamManager(connection);
  return {
    url: `nats://${REAL.host}:${REAL.port}`,
    manager,
    client: jetstream(connection),
    async texts(stream) {
      const { first_seq: first, last_seq: last } = (await manager.streams.info(stream)).state;
      const texts: string[] = [];
      for (let seq = first; seq <= last; seq++) {
        const message = await manager.streams.getMessage(stream, { seq });
        if (message !== null) texts.push(message.string());
      }
      return texts;
    },
    async [Symbol.asyncDispose]() {
      for (const stream of streams) await manager.streams.delete(stream).catch(() => false);
      await connection.close();
    },
  };
}
