import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { TurnWriter } from "./turn-writer.ts";

const CRLF = "\r\n";
const HELLO = `CONNECT {"verbose":false,"pedantic":false,"headers":false,"lang":"bench","version":"0"}${CRLF}PING${CRLF}`;
const [DELIVERED, REPLIES] = ["_BENCH.delivered", "_BENCH.replies"] as const;
const [DELIVERED_SID, REPLIES_SID] = ["1", "2"] as const;

/** Just enough of a NATS client to put messages into a stream and to take them out, as for {@link MqttPeer}. */
export class NatsPeer {
  readonly #socket: Socket;
  readonly #writer: TurnWriter;
  readonly #onMessage: (payload: Buffer) => void;
  readonly #connected = Promise.withResolvers<void>();
  #answer = Promise.withResolvers<Buffer>();
  #rest: Buffer | undefined;

  private constructor(socket: Socket, onMessage: (payload: Buffer) => void) {
    this.#socket = socket;
    this.#writer = new TurnWriter(socket);
    this.#onMessage = onMessage;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#connected.reject(error));
  }

  static async connect(port: number, onMessage: (payload: Buffer) => void): Promise<NatsPeer> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const peer = new NatsPeer(socket, onMessage);
    socket.write(`${HELLO}SUB ${REPLIES} ${REPLIES_SID}${CRLF}`);
    await peer.#connected.promise;
    return peer;
  }

  /** A stream on a file, with a subject of the same name. */
  async createStream(name: string): Promise<void> {
    const stream = { name, subjects: [name], storage: "file", retention: "limits", discard: "old", num_replicas: 1 };
    await this.#request(`$JS.API.STREAM.CREATE.${name}`, stream);
  }

  /** Takes what is in the stream, and all that comes into it. */
  async consume(stream: string): Promise<void> {
    this.#socket.write(`SUB ${DELIVERED} ${DELIVERED_SID}${CRLF}`);
    const config = { deliver_subject: DELIVERED, deliver_policy: "all", ack_policy: "none", replay_policy: "instant" };
    await this.#request(`$JS.API.CONSUMER.CREATE.${stream}`, { stream_name: stream, config });
  }

  /** Says how payloads of `size` bytes are published; `fill` writes each into its packet. */
  publisher(subject: string, size: number, fill: (packet: Buffer, at: number) => void): () => void {
    const head = Buffer.from(`PUB ${subject} ${size}${CRLF}`);
    return () => {
      const packet = Buffer.allocUnsafe(head.length + size + CRLF.length);
      fill(packet, head.copy(packet));
      packet.write(CRLF, head.length + size, "latin1");
      this.#writer.write(packet);
    };
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #request(subject: string, body: object): Promise<void> {
    this.#answer = Promise.withResolvers();
    const bytes = Buffer.from(JSON.stringify(body));
    this.#socket.write(`PUB ${subject} ${REPLIES} ${bytes.length}${CRLF}${bytes.toString()}${CRLF}`);
    const answer = (await this.#answer.promise).toString();
    if (answer.includes('"error"')) throw new Error(`the server answered to ${subject}: ${answer}`);
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      const lineEnd = bytes.indexOf(CRLF, at);
      if (lineEnd === -1) break;
      const line = bytes.toString("latin1", at, lineEnd);
      const body = lineEnd + CRLF.length;
      if (!line.startsWith("MSG ")) {
        this.#hear(line);
        at = body;
        continue;
      }
      const size = Number(line.slice(line.lastIndexOf(" ") + 1));
      if (body + size + CRLF.length > bytes.length) break;
      this.#take(line, bytes.subarray(body, body + size));
      at = body + size + CRLF.length;
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
  }

  /** `line` is `MSG subject sid [reply] size`. */
  #take(line: string, payload: Buffer): void {
    if (line.split(" ", 3)[2] === REPLIES_SID) this.#answer.resolve(payload);
    else this.#onMessage(payload);
  }

  #hear(line: string): void {
    if (line === "PING") this.#socket.write(`PONG${CRLF}`);
    else if (line === "PONG") this.#connected.resolve();
    else if (line.startsWith("-ERR")) throw new Error(`the server told the load generator: ${line}`);
  }
}
