import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PORT } from "./broker.ts";

/** Class and method of what a broker may say by itself, and its arguments. */
export const SAY = {
  blocked: (reason: string) => method(0, 10, 60, shortText(reason)),
  unblocked: () => method(0, 10, 61),
  closeConnection: (code: number, text: string) => method(0, 10, 50, short(code), shortText(text), short(0), short(0)),
  closeChannel: (channel: number, code: number, text: string) =>
    method(channel, 20, 40, short(code), shortText(text), short(0), short(0)),
} as const;

/** A way to the broker on which a test can put words into the broker's mouth. */
export interface MeddlingProxy extends AsyncDisposable {
  readonly port: number;
  /** Sends the client a frame, between two of the broker's. */
  say(frame: Buffer): void;
  /** Whether what the client sends is kept back, as by a broker that reads nothing. */
  deaf(on: boolean): void;
  /**
   * From now on nothing is read and nothing said, as by a broker that is frozen, and the connection stays open. This end of
   * it does not count among the active resources of the process.
   */
  freeze(): void;
}

/** For one connection at a time. */
export async function meddlingProxy(): Promise<MeddlingProxy> {
  const sockets = new Set<Socket>();
  let latest: { readonly client: Socket; readonly upstream: Socket } | undefined;
  const server = createServer((client) => {
    const upstream = connect({ port: PORT, host: "127.0.0.1" });
    const frames = new FrameReader((frame) => client.write(frame));
    latest = { client, upstream };
    client.on("data", (data) => upstream.write(data));
    upstream.on("data", (data) => frames.read(data));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    say: (frame) => latest?.client.write(frame),
    deaf: (on) => (on ? latest?.client.pause() : latest?.client.resume()),
    freeze() {
      latest?.client.pause().unref();
      latest?.upstream.removeAllListeners("close").destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const FRAME_HEAD = 7;
const FRAME_END = 0xce;

/** Cuts what it reads into whole frames, so that another can come between two of them. */
class FrameReader {
  readonly #onFrame: (frame: Buffer) => void;
  #rest = Buffer.alloc(0);

  constructor(onFrame: (frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  read(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    while (this.#rest.length >= FRAME_HEAD) {
      const size = FRAME_HEAD + this.#rest.readUInt32BE(3) + 1;
      if (this.#rest.length < size) return;
      this.#onFrame(this.#rest.subarray(0, size));
      this.#rest = this.#rest.subarray(size);
    }
  }
}

function method(channel: number, classId: number, methodId: number, ...args: readonly Buffer[]): Buffer {
  const payload = Buffer.concat([short(classId), short(methodId), ...args]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(payload.length);
  return Buffer.concat([Buffer.of(1), short(channel), size, payload, Buffer.of(FRAME_END)]);
}

function short(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)]);
}
