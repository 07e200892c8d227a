import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A server for a test to play a part in. Disposing it ends its connections. */
export interface LocalServer extends AsyncDisposable {
  readonly port: number;
  /** Its open connections. */
  readonly sockets: ReadonlySet<Socket>;
}

/** Listens on loopback, on a port that is free. What goes wrong with a connection is its client's to tell. */
export async function localServer(onConnection: (socket: Socket) => void): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
