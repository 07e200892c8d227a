/** What brokers say, byte by byte. @module */
import { frame, long, method, short, uint16, uint32, uint64 } from "@bridge/tooling/hostile/amqp-words";

/** Class, method and arguments of everything that a broker has to say. */
export const METHODS: Readonly<Record<string, readonly [classId: number, methodId: number, ...Buffer[]]>> = {
  start: [10, 10, Buffer.of(0, 9), long(), long("PLAIN AMQPLAIN"), long("en_US")],
  secure: [10, 20, long("challenge")],
  tune: [10, 30, uint16(2_047), uint32(131_072), uint16(60)],
  open: [10, 41, short("")],
  close: [10, 50, uint16(320), short("CONNECTION_FORCED - the end"), uint16(0), uint16(0)],
  closeOk: [10, 51],
  blocked: [10, 60, short("low on memory")],
  unblocked: [10, 61],
  channelOpen: [20, 11, long()],
  channelFlow: [20, 20, Buffer.of(1)],
  channelClose: [20, 40, uint16(404), short("NOT_FOUND - no queue"), uint16(60), uint16(20)],
  channelCloseOk: [20, 41],
  declared: [50, 11, short("queue"), uint32(0), uint32(0)],
  qos: [60, 11],
  consume: [60, 21, short("tag")],
  cancel: [60, 30, short("tag"), Buffer.of(1)],
  cancelOk: [60, 31, short("tag")],
  return: [60, 50, uint16(312), short("NO_ROUTE"), short(""), short("queue")],
  deliver: [60, 60, short("tag"), uint64(1n), Buffer.of(0), short(""), short("queue")],
  ack: [60, 80, uint64(1n), Buffer.of(0)],
  nack: [60, 120, uint64(1n), Buffer.of(0)],
  confirmSelect: [85, 11],
  unknownMethod: [60, 99],
  unknownClass: [123, 45],
};

export function say(name: string, channel: number): Buffer {
  return method(channel, ...(METHODS[name] as readonly [number, number, ...Buffer[]]));
}

/** A message to a consumer, with properties as bytes. */
export function delivery(
  channel: number,
  tag: bigint,
  payload: Buffer,
  properties: Buffer = uint16(0),
  announced = BigInt(payload.length),
): Buffer {
  const parts = [
    method(channel, 60, 60, short("tag"), uint64(tag), Buffer.of(0), short(""), short("queue")),
    frame(2, channel, Buffer.concat([uint16(60), uint16(0), uint64(announced), properties])),
  ];
  for (let at = 0; at < payload.length; at += 100_000)
    parts.push(frame(3, channel, payload.subarray(at, at + 100_000)));
  return Buffer.concat(parts);
}
