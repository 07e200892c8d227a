import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { HttpReader } from "./http-reader.ts";
import type { Ledger } from "./ledger.ts";
import type { Source } from "./source.ts";

/** Node's servers close connections after five seconds without a request; a request on its way by then would be lost. */
const RENEWED_AFTER_MS = 3_000;

export interface HttpSourceJob {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
}

interface Connection {
  readonly socket: Socket;
  /** Absent while a request waits for its answer. */
  restsSince: number | undefined;
}

/** Requests over connections that stay open, one at a time on each. */
export async function httpSource(
  { port, path, connections }: HttpSourceJob,
  ledger: Ledger,
  onRoom: () => void,
): Promise<Source> {
  const head = Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/octet-stream\r\ncontent-length: ${ledger.size}\r\n\r\n`,
  );
  let idle: Connection[] = [];
  const open = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.setNoDelay(true);
    const connection: Connection = { socket, restsSince: performance.now() };
    const reader = new HttpReader((response) => {
      // A server that was not asked anything for too long says so before it closes.
      if (connection.restsSince !== undefined) return;
      if (!response.startsWith("HTTP/1.1 2")) ledger.refuse();
      connection.restsSince = performance.now();
      idle.push(connection);
      onRoom();
    });
    socket.on("data", (chunk: Buffer) => reader.read(chunk));
    idle.push(connection);
  };
  const openMore = (count: number) => Promise.all(Array.from({ length: count }, open));
  await openMore(connections);
  return {
    get room() {
      return idle.length > 0;
    },
    send() {
      const connection = idle.pop();
      if (connection === undefined) throw new Error("no connection is free");
      connection.restsSince = undefined;
      const request = Buffer.allocUnsafe(head.length + ledger.size);
      ledger.send(request, head.copy(request));
      connection.socket.write(request);
    },
    async renew() {
      const end = performance.now() - RENEWED_AFTER_MS;
      const { old = [], young = [] } = Object.groupBy(idle, ({ restsSince = end }) =>
        restsSince < end ? "old" : "young",
      );
      idle = young;
      for (const { socket } of old) socket.destroy();
      await openMore(old.length);
    },
  };
}
