import {
  type Clock,
  type Delivery,
  type Envelope,
  type Receiver,
  type Sender,
  type Session,
  type SessionRole,
  silentLogger,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import * as v from "valibot";
import { type MemoryHub } from "../src/index.ts";
import { memoryTransport } from "../src/memory-transport.ts";

/** Never aborts. */
export const { signal } = new AbortController();

interface Context {
  readonly clock?: Clock;
  readonly session?: Session;
}

const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };

/** Builds parts of one plugin, as a configuration would. */
export function parts(hub: MemoryHub) {
  const plugin = memoryTransport(hub);
  return {
    receiver: (options: object, context: Context = {}): Receiver => {
      const { receiver } = plugin;
      const parsed = v.parse(receiver!.options, { channel: "in", ...options });
      const route = { topics: [], maxInFlight: 10, maxReplayAttempts: 5 };
      return receiver!.create(parsed, { ...seams, ...context, id: "receiver", ...route });
    },
    sender: (options: object = {}, context: Context = {}): Sender => {
      const { sender } = plugin;
      return sender!.create(v.parse(sender!.options, options), { ...seams, ...context, id: "sender" });
    },
    session: (id: string, role: SessionRole, clock: Clock = systemClock): Session => {
      const context = {
        ...seams,
        clock,
        id,
        bridgeId: "plant",
        role,
        sessionMode: "persistent",
        maxInFlight: 10,
      } as const;
      return plugin.session!.create({}, context);
    },
  };
}

export function iterate(receiver: Receiver, until: AbortSignal = signal): AsyncIterator<Delivery> {
  return receiver.receive(until)[Symbol.asyncIterator]();
}

/** The next delivery; there must be one. */
export async function next(iterator: AsyncIterator<Delivery>): Promise<Delivery> {
  const result = await iterator.next();
  if (result.done === true) throw new Error("the iteration has ended");
  return result.value;
}

export function textOf(delivery: Delivery): string {
  return new TextDecoder().decode(delivery.message.payload);
}

export const ACCEPT = { kind: "accept", outcome: "delivered", envelopeId: "e" } as const;

export function envelope(fields: Partial<Envelope> = {}): Envelope {
  return {
    id: "m1",
    sourceId: "s",
    subject: "subject",
    contentType: "",
    headers: {},
    payload: Uint8Array.of(1),
    correlationId: "m1",
    receivedAt: 0,
    ...fields,
  };
}
