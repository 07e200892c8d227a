import { once } from "node:events";
import { connect, type Socket } from "node:net";
import {
  BODY,
  EMPTY_TABLE,
  FRAME_END,
  FRAME_HEAD,
  HEADER,
  longText,
  METHOD,
  method,
  METHODS,
  publishHead,
  shortText,
  u16,
  u32,
  u64,
  u8,
} from "./amqp-frames.ts";
import { TurnWriter } from "./turn-writer.ts";

const PROTOCOL_HEADER = Buffer.from("AMQP\0\0\u0009\u0001", "latin1");
const CHANNEL = 1;
/** Of what a consumer has unacknowledged. */
const PREFETCH = 5_000;
/** The largest payload: beyond it a body would take several frames. */
const MAX_SIZE = 65_536;

/** Just enough of an AMQP client to put messages into a queue and to take them out, as for {@link MqttPeer}. */
export class AmqpPeer {
  readonly #socket: Socket;
  readonly #writer: TurnWriter;
  readonly #onMessage: (payload: Buffer) => void;
  #awaited = { id: 0, answer: Promise.withResolvers<Buffer>() };
  #rest: Buffer | undefined;
  #tag = 0n;

  private constructor(socket: Socket, onMessage: (payload: Buffer) => void) {
    this.#socket = socket;
    this.#writer = new TurnWriter(socket);
    this.#onMessage = onMessage;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#awaited.answer.reject(error));
  }

  /** Opens a connection as the default user, and a channel. */
  static async connect(port: number, onMessage: (payload: Buffer) => void): Promise<AmqpPeer> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const peer = new AmqpPeer(socket, onMessage);
    await peer.#ask(PROTOCOL_HEADER, METHODS.connectionStart);
    const login = [EMPTY_TABLE, shortText("PLAIN"), longText("\0guest\0guest"), shortText("en_US")];
    const tune = await peer.#ask(method(0, METHODS.connectionStartOk, ...login), METHODS.connectionTune);
    // What the broker proposes, without heartbeats: a run is short.
    const tuned = [tune.subarray(0, 6), u16(0)];
    const open = method(0, METHODS.connectionOpen, shortText("/"), shortText(""), u8(0));
    const opening = Buffer.concat([method(0, METHODS.connectionTuneOk, ...tuned), open]);
    await peer.#ask(opening, METHODS.connectionOpenOk);
    await peer.#ask(method(CHANNEL, METHODS.channelOpen, shortText("")), METHODS.channelOpenOk);
    return peer;
  }

  /** Takes messages from a queue, and acknowledges together what came together. */
  async consume(queue: string): Promise<void> {
    await this.#ask(method(CHANNEL, METHODS.basicQos, u32(0), u16(PREFETCH), u8(0)), METHODS.basicQosOk);
    const consume = [u16(0), shortText(queue), shortText(""), u8(0), EMPTY_TABLE];
    await this.#ask(method(CHANNEL, METHODS.basicConsume, ...consume), METHODS.basicConsumeOk);
  }

  /** Says how payloads of `size` bytes are put into a queue; `fill` writes each into its packet. */
  publisher(queue: string, size: number, fill: (packet: Buffer, at: number) => void): () => void {
    if (size > MAX_SIZE) throw new Error(`a message of ${size} bytes: AMQP is measured up to ${MAX_SIZE}`);
    const head = publishHead(CHANNEL, queue, size);
    return () => {
      const packet = Buffer.allocUnsafe(head.length + size + 1);
      fill(packet, head.copy(packet));
      packet[packet.length - 1] = FRAME_END;
      this.#writer.write(packet);
    };
  }

  #ask(frame: Buffer, answer: number): Promise<Buffer> {
    this.#awaited = { id: answer, answer: Promise.withResolvers() };
    this.#socket.write(frame);
    return this.#awaited.answer.promise;
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    const before = this.#tag;
    let at = 0;
    while (at + FRAME_HEAD <= bytes.length) {
      const body = at + FRAME_HEAD;
      const end = body + bytes.readUInt32BE(at + 3);
      if (end >= bytes.length) break;
      this.#take(bytes[at] ?? 0, bytes.subarray(body, end));
      at = end + 1;
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
    if (this.#tag > before) this.#writer.write(method(CHANNEL, METHODS.basicAck, u64(Number(this.#tag)), u8(1)));
  }

  #take(type: number, payload: Buffer): void {
    if (type === BODY) this.#onMessage(payload);
    else if (type === METHOD) this.#hear(payload.readUInt32BE(0), payload.subarray(4));
    else if (type === HEADER && payload.readBigUInt64BE(4) > MAX_SIZE) throw new Error("a message of several frames");
  }

  #hear(id: number, fields: Buffer): void {
    if (id === METHODS.basicDeliver) this.#tag = fields.readBigUInt64BE(1 + fields.readUInt8(0));
    else if (id === this.#awaited.id) this.#awaited.answer.resolve(fields);
    else if (id === METHODS.connectionClose || id === METHODS.channelClose) {
      const why = fields.toString("utf8", 3, 3 + fields.readUInt8(2));
      throw new Error(`the broker ended the load generator's channel, with code ${fields.readUInt16BE(0)}: ${why}`);
    }
  }
}
