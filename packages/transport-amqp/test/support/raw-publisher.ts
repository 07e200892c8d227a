/** Publishes what a broker takes and no client library writes: properties as bytes. @module */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { PORT } from "./broker.ts";
import { frame, long, method, short, uint16, uint32 } from "@bridge/tooling/hostile/amqp-words";

const NOTHING = Buffer.alloc(0);

/** Resolves when the broker has confirmed the message. */
export function publishRaw(queue: string, properties: Buffer, payload: Buffer = NOTHING): Promise<void> {
  return publishAll(queue, [[properties, payload]]);
}

/** The same for many, one after another. */
export async function publishAll(
  queue: string,
  messages: readonly (readonly [properties: Buffer, payload: Buffer])[],
): Promise<void> {
  const socket = connect({ port: PORT, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    const answers = new Answers(socket);
    socket.write(Buffer.from("AMQP\0\0\u{9}\u{1}", "latin1"));
    await answers.until(10, 10);
    socket.write(method(0, 10, 11, long(), short("PLAIN"), long("\0guest\0guest"), short("en_US")));
    await answers.until(10, 30);
    socket.write(method(0, 10, 31, uint16(2_047), uint32(131_072), uint16(0)));
    socket.write(method(0, 10, 40, short("/"), short(""), Buffer.of(0)));
    await answers.until(10, 41);
    socket.write(method(1, 20, 10, short("")));
    await answers.until(20, 11);
    socket.write(method(1, 85, 10, Buffer.of(0)));
    await answers.until(85, 11);
    for (const [properties, payload] of messages) {
      socket.write(method(1, 60, 40, uint16(0), short(""), short(queue), Buffer.of(0)));
      const size = Buffer.concat([uint32(0), uint32(payload.length)]);
      socket.write(frame(2, 1, Buffer.concat([uint16(60), uint16(0), size, properties])));
      if (payload.length > 0) socket.write(frame(3, 1, payload));
      await answers.until(60, 80);
    }
  } finally {
    socket.destroy();
  }
}

class Answers {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = NOTHING;

  constructor(socket: Socket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Reads up to a method. */
  async until(classId: number, methodId: number): Promise<void> {
    for (;;) {
      while (this.#rest.length < 8 || this.#rest.length < 8 + this.#rest.readUInt32BE(3)) {
        const chunk = await this.#chunks.next();
        if (chunk.done === true) throw new Error("the broker has closed the connection");
        this.#rest = Buffer.concat([this.#rest, chunk.value]);
      }
      const [of, which] = [this.#rest.readUInt16BE(7), this.#rest.readUInt16BE(9)];
      const text = this.#rest.subarray(11).toString("latin1");
      this.#rest = this.#rest.subarray(8 + this.#rest.readUInt32BE(3));
      if (of === classId && which === methodId) return;
      if (which === 40 && (of === 20 || of === 10)) throw new Error(`the broker refuses: ${text}`);
      if (of === 10 && which === 50) throw new Error(`the broker refuses: ${text}`);
    }
  }
}
