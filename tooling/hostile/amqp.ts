/** Messages to a queue of RabbitMQ that no library would write, and who writes them. @module */
import { once } from "node:events";
import { connect } from "node:net";
import { frame, long, method, short, uint16, uint32, uint64 } from "./amqp-words.ts";

/** Properties with names and values of every byte, of every type, twice, cut off, and at each limit. */
export function hostileOverAmqp(queue: string): readonly Uint8Array[] {
  return [...contents()].map((content) => publication(queue, content));
}

/** "close" and "close-ok": it has read all that it is going to. */
function isOver(data: Buffer): boolean {
  return [50, 51].some((id) => data.includes(Buffer.of(0, 10, 0, id)));
}

/** All that a client says, at once, on a connection of its own, as a broker closes it over what it refuses. */
export async function writeOverAmqp(port: number, message: Uint8Array): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.on("data", (data: Buffer) => {
    if (isOver(data)) socket.destroy();
  });
  socket.write(
    Buffer.concat([
      Buffer.from("AMQP\0\0\u0009\u0001", "latin1"),
      method(0, 10, 11, long(), short("PLAIN"), long("\0guest\0guest"), short("en_US")),
      method(0, 10, 31, uint16(2_047), uint32(131_072), uint16(0)),
      method(0, 10, 40, short("/"), short(""), Buffer.of(0)),
      method(1, 20, 10, short("")),
      message,
      method(0, 10, 50, uint16(200), short(""), uint16(0), uint16(0)),
    ]),
  );
  await once(socket, "close");
}

/** Properties, and a payload that they may say nothing true about. */
function publication(queue: string, properties: Buffer): Buffer {
  const payload = Buffer.from("hostile");
  return Buffer.concat([
    method(1, 60, 40, uint16(0), short(""), short(queue), Buffer.of(0)),
    frame(2, 1, Buffer.concat([uint16(60), uint16(0), uint64(BigInt(payload.length)), properties])),
    frame(3, 1, payload),
  ]);
}

const HEADERS = 0x2000;

function table(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([uint16(HEADERS), long(Buffer.concat(fields))]);
}

function field(name: Buffer, tag: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.of(name.length), name, Buffer.from(tag), value]);
}

function text(name: string | Buffer, value: string | Buffer): Buffer {
  return field(Buffer.from(name), "S", long(value));
}

function* contents(): Generator<Buffer> {
  for (let code = 0; code < 256; code += 8) {
    const bytes = Array.from({ length: 8 }, (_, index) => Buffer.of(0x61, code + index, 0x62));
    yield table(...bytes.map((one) => text(one, one)));
    for (const flag of [0x8000, 0x4000, 0x400, 0x80])
      yield Buffer.concat([uint16(flag), Buffer.of(3), bytes[0] ?? Buffer.alloc(3)]);
  }
  for (const name of [
    "",
    "__proto__",
    "constructor",
    "Ordering-Key",
    "x-bridge.dedup-id",
    "amqp.type",
    "x".repeat(255),
  ])
    yield table(text(name, "v"), text(name, "w"));
  for (let tag = 0; tag < 128; tag++)
    yield table(field(Buffer.from("dedup-id"), String.fromCharCode(tag), Buffer.alloc(8, 0xff)));
  yield table(text("a", "v".repeat(60_000)));
  yield table(...Array.from({ length: 1_000 }, (_, index) => text(`h${index}`, "v")));
  for (const cut of [1, 5, 9]) yield table(text("ordering-key", "value")).subarray(0, -cut);
  yield Buffer.concat([uint16(HEADERS), uint32(0xffff_ffff)]);
  yield uint16(0x0001);
  yield uint16(0xffff);
  for (const expiration of ["", "-1", "1e9", "soon", "9".repeat(200)])
    yield Buffer.concat([uint16(0x100), short(expiration)]);
  yield Buffer.concat([uint16(0x40), uint64(2n ** 64n - 1n)]);
}
