import { once } from "node:events";
import { connect } from "node:net";

/** A client that writes what no library would. */
export interface RawPublisher extends AsyncDisposable {
  /** Publishes a payload behind these bytes for headers. */
  publish(subject: string, headers: Uint8Array, payload: string): void;
  /** Resolves when the server has read everything so far. */
  flush(): Promise<void>;
}

export async function rawPublisher(port: number): Promise<RawPublisher> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  let pongs = 0;
  let said = "";
  const heard = new Set<() => void>();
  socket.on("data", (bytes) => {
    said = (said + bytes.toString("latin1")).slice(-4_096);
    pongs += bytes.toString("latin1").split("PONG").length - 1;
    for (const look of heard) look();
  });
  socket.on("error", () => {});
  socket.write(`CONNECT {"verbose":false,"headers":true,"lang":"raw","version":"0"}\r\n`);
  let pings = 0;
  return {
    publish(subject, headers, payload) {
      socket.write(`HPUB ${subject} ${headers.length} ${headers.length + Buffer.byteLength(payload)}\r\n`);
      socket.write(headers);
      socket.write(`${payload}\r\n`);
    },
    flush() {
      const wanted = ++pings;
      socket.write("PING\r\n");
      return new Promise((resolve, reject) => {
        const look = (): void => {
          if (pongs < wanted) return;
          heard.delete(look);
          socket.off("close", closed);
          resolve();
        };
        const closed = (): void => {
          heard.delete(look);
          reject(new Error(`the server has closed the connection: ${said}`));
        };
        socket.once("close", closed);
        heard.add(look);
        look();
      });
    },
    async [Symbol.asyncDispose]() {
      if (socket.destroyed) return;
      socket.destroy();
      await once(socket, "close");
    },
  };
}
