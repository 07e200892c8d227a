import { connect, type Socket } from "node:net";

const CLIENTS = 40;
/** As clients that are shut out wait before they try again. */
const RECONNECT_MS = 2_000;
const TEXT_BYTES = 65_536;
const PATHS = ["/api/v1/monitor/live", "/nothing", "/api/v1/monitor/ready?level=no", "/in/nothing"];
const MIB = 1_048_576;

/** Clients that nobody knows, who ask and ask, and never read an answer. One that is cut comes again. */
export class Crowd implements Disposable {
  readonly #ports: readonly number[];
  readonly #sockets = new Set<Socket>();
  readonly #texts = PATHS.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`).map((text) =>
    text.repeat(Math.floor(TEXT_BYTES / text.length)),
  );
  #over = false;
  #bytes = 0;
  cut = 0;
  connected = 0;

  constructor(ports: readonly number[]) {
    this.#ports = ports;
    for (let client = 0; client < CLIENTS; client++) this.#come(client);
  }

  get pipelinedMib(): number {
    return Math.round(this.#bytes / MIB);
  }

  [Symbol.dispose](): void {
    this.#over = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #come(client: number): void {
    if (this.#over) return;
    const text = this.#texts[client % this.#texts.length] ?? "";
    const socket = connect(this.#ports[client % this.#ports.length] ?? 0, "127.0.0.1").pause();
    this.#sockets.add(socket);
    const more = (error?: Error | null): void => {
      if (error !== undefined && error !== null) return;
      this.#bytes += socket.bytesWritten === 0 ? 0 : text.length;
      if (socket.writable) socket.write(text, more);
    };
    let wasConnected = false;
    socket.on("error", () => {});
    socket.on("connect", () => {
      wasConnected = true;
      this.connected++;
      more();
    });
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (wasConnected && !this.#over) this.cut++;
      setTimeout(() => this.#come(client), RECONNECT_MS);
    });
  }
}
