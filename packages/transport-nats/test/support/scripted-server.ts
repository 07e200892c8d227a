import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** What is at the other end of one connection, and hears line by line what the bridge says. */
type Script = (line: string, socket: Socket) => void;

export interface ScriptedServer extends AsyncDisposable {
  readonly port: number;
}

/** Says `greeting` to whoever connects, and then what the script says. */
export async function scriptedServer(greeting: string, script: Script = () => {}): Promise<ScriptedServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let heard = "";
    socket.on("data", (bytes) => {
      const lines = (heard + bytes.toString("latin1")).split("\r\n");
      heard = lines.pop() ?? "";
      for (const line of lines) script(line, socket);
    });
    socket.write(greeting);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** What a server begins with. */
export const INFO = `INFO ${JSON.stringify({ server_id: "S", version: "2.9.10", max_payload: 1_048_576, headers: true })}\r\n`;
