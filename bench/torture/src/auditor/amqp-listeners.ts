import { readPayload } from "../message.ts";
import { AmqpReader, METHOD, type Method } from "./amqp-frames.ts";
import { AmqpTags, flagsOf } from "./amqp-tags.ts";
import type { Ledger } from "./ledger.ts";
import type { Sends } from "./sends.ts";
import type { Listener } from "./tap.ts";

/** Above every tag, so that one number names a channel and a tag. */
const CHANNEL = 2 ** 40;
/** Of `basic.nack` and `basic.reject`: the message goes back to its queue. */
const REQUEUE = { nack: 0b10, reject: 0b1 } as const;

/** Listens between the bridge and its source's broker: what was handed over, and what was acknowledged. */
export function amqpSourceListener(ledger: Ledger): Listener {
  const held = new AmqpTags();
  const fromServer = new AmqpReader(({ channel, method, args, body }) => {
    if (method === METHOD.channelClose) held.takeAll(channel);
    if (method !== METHOD.deliver || body === undefined) return;
    const { id } = readPayload(body);
    // The name of the consumer comes before the tag, behind its own length.
    held.add(channel, Number(args.readBigUInt64BE(1 + args.readUInt8(0))), id);
    ledger.handed(id);
  });
  const fromClient = new AmqpReader((method) => {
    if (method.method === METHOD.channelOpen) held.takeAll(method.channel);
    for (const [, id] of held.take(method)) if (settles(method)) ledger.settled(id);
  });
  return {
    fromServer: (bytes) => fromServer.read(bytes),
    fromClient: (bytes) => fromClient.read(bytes),
    ended: () => {},
  };
}

/** Listens between the bridge and its target's broker: what was sent, and what was confirmed. */
export function amqpTargetListener(sends: Sends, onEnd: () => void): Listener {
  const open = new AmqpTags();
  /** The last tag of each channel, which nobody writes down: both sides count. */
  const published = new Map<number, number>();
  const returned = new Set<string>();
  const fromClient = new AmqpReader(({ channel, method, body }) => {
    if (method === METHOD.channelOpen) published.delete(channel);
    if (method !== METHOD.publish || body === undefined) return;
    const tag = (published.get(channel) ?? 0) + 1;
    published.set(channel, tag);
    const { id } = readPayload(body);
    open.add(channel, tag, id);
    sends.begin(nameOf(channel, tag), id);
  });
  const fromServer = new AmqpReader((method) => {
    const { channel, body } = method;
    // What no queue takes is returned, and confirmed right after that.
    if (method.method === METHOD.return && body !== undefined) returned.add(readPayload(body).id);
    if (method.method === METHOD.channelClose)
      for (const [tag] of open.takeAll(channel)) sends.end(nameOf(channel, tag), false);
    for (const [tag, id] of open.take(method))
      sends.end(nameOf(channel, tag), method.method === METHOD.ack && !returned.delete(id));
  });
  return {
    fromClient: (bytes) => fromClient.read(bytes),
    fromServer: (bytes) => fromServer.read(bytes),
    ended: onEnd,
  };
}

function nameOf(channel: number, tag: number): number {
  return channel * CHANNEL + tag;
}

function settles({ method, args }: Method): boolean {
  if (method === METHOD.ack) return true;
  return (flagsOf(args) & (method === METHOD.nack ? REQUEUE.nack : REQUEUE.reject)) === 0;
}
