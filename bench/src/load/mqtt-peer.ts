import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { TurnWriter } from "./turn-writer.ts";

const CONNECT = 0x10;
const PUBLISH_QOS_1 = 0x32;
const PUBLISH = 0x30;
const PUBACK = 0x40;
const SUBSCRIBE = 0x82;
const SUBACK = 0x90;
const CONNACK = 0x20;
const CLEAN_SESSION = 0x02;

/**
 * Just enough of an MQTT 3.1.1 client to send and to take messages of QoS 1. A whole client library would need as much CPU
 * as what is measured, on the same two cores.
 */
export class MqttPeer {
  readonly #socket: Socket;
  readonly #writer: TurnWriter;
  readonly #onMessage: (payload: Buffer) => void;
  #acknowledged = Promise.withResolvers<void>();
  #rest: Buffer | undefined;
  #packetId = 0;

  private constructor(socket: Socket, onMessage: (payload: Buffer) => void) {
    this.#socket = socket;
    this.#writer = new TurnWriter(socket);
    this.#onMessage = onMessage;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#acknowledged.reject(error));
  }

  static async connect(port: number, clientId: string, onMessage: (payload: Buffer) => void): Promise<MqttPeer> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const peer = new MqttPeer(socket, onMessage);
    const variable = [text("MQTT"), Buffer.from([4, CLEAN_SESSION, 0, 0]), text(clientId)];
    await peer.#request(CONNECT, variable);
    return peer;
  }

  async subscribe(topic: string): Promise<void> {
    await this.#request(SUBSCRIBE, [Buffer.from([0, 1]), text(topic), Buffer.from([1])]);
  }

  /** Publishes a payload of `size` bytes, which `fill` writes into the packet. */
  publish(topic: Buffer, size: number, fill: (packet: Buffer, at: number) => void): void {
    const remaining = topic.length + 2 + size;
    const packet = Buffer.allocUnsafe(5 + remaining);
    packet[0] = PUBLISH_QOS_1;
    let at = writeLength(packet, 1, remaining);
    at += topic.copy(packet, at);
    this.#packetId = (this.#packetId % 65_535) + 1;
    at = packet.writeUInt16BE(this.#packetId, at);
    fill(packet, at);
    this.#writer.write(packet.subarray(0, at + size));
  }

  #request(type: number, fields: readonly Buffer[]): Promise<void> {
    this.#acknowledged = Promise.withResolvers();
    const body = Buffer.concat(fields);
    const packet = Buffer.alloc(5);
    packet[0] = type;
    const end = writeLength(packet, 1, body.length);
    this.#socket.write(Buffer.concat([packet.subarray(0, end), body]));
    return this.#acknowledged.promise;
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      const head = readLength(bytes, at + 1);
      if (head === undefined || head.end + head.length > bytes.length) break;
      const end = head.end + head.length;
      this.#take(bytes[at] ?? 0, bytes.subarray(head.end, end));
      at = end;
    }
    this.#rest = at === bytes.length ? undefined : bytes.subarray(at);
  }

  #take(first: number, body: Buffer): void {
    const type = first & 0xf0;
    if (type === PUBLISH) {
      const topicEnd = 2 + body.readUInt16BE(0);
      this.#writer.write(Buffer.from([PUBACK, 2, body[topicEnd] ?? 0, body[topicEnd + 1] ?? 0]));
      this.#onMessage(body.subarray(topicEnd + 2));
    } else if (type === CONNACK || type === SUBACK) {
      const code = type === CONNACK ? body[1] : body[2];
      if (code === 0 || (type === SUBACK && code === 1)) this.#acknowledged.resolve();
      else this.#acknowledged.reject(new Error(`the broker refused the load generator, with code ${code}`));
    }
  }
}

/** A topic as it stands in a packet. */
export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function writeLength(packet: Buffer, at: number, length: number): number {
  let [rest, end] = [length, at];
  do {
    const digit = rest & 0x7f;
    rest >>= 7;
    packet[end++] = rest > 0 ? digit | 0x80 : digit;
  } while (rest > 0);
  return end;
}

function readLength(bytes: Buffer, at: number): { readonly length: number; readonly end: number } | undefined {
  let length = 0;
  for (let index = 0; index < 4; index++) {
    const digit = bytes[at + index];
    if (digit === undefined) return undefined;
    length |= (digit & 0x7f) << (7 * index);
    if (digit < 0x80) return { length, end: at + index + 1 };
  }
  throw new Error("the broker sent something that is not MQTT");
}
