import type { Socket } from "node:net";
import { type LocalServer, localServer } from "@bridge/tooling/local-server";

/** What is at the other end of one connection, and hears line by line what the bridge says. */
type Script = (line: string, socket: Socket) => void;

/** Says `greeting` to whoever connects, and then what the script says. */
export function scriptedServer(greeting: string, script: Script = () => {}): Promise<LocalServer> {
  return localServer((socket) => {
    let heard = "";
    socket.on("data", (bytes) => {
      const lines = (heard + bytes.toString("latin1")).split("\r\n");
      heard = lines.pop() ?? "";
      for (const line of lines) script(line, socket);
    });
    socket.write(greeting);
  });
}

/** What a server begins with. */
export const INFO = `INFO ${JSON.stringify({ server_id: "S", version: "2.9.10", max_payload: 1_048_576, headers: true })}\r\n`;
