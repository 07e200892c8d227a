import {
  defineFactory,
  type ReceiverContext,
  type SenderContext,
  type Session,
  type SessionContext,
  type TransportPlugin,
} from "@bridge/ports";
import { type MemoryHub, memoryHub } from "./memory-hub.ts";
import { MemoryReceiver } from "./memory-receiver.ts";
import { MemorySender } from "./memory-sender.ts";
import { MemorySession } from "./memory-session.ts";
import { receiverOptions, senderOptions, sessionOptions } from "./options.ts";

/**
 * The transport `memory`: named channels inside the process, nothing of which survives it.
 *
 * @example
 * const hub = memoryHub();
 * const plugins = { transports: [memoryTransport(hub)] };
 * hub.publish("in", { payload: "hello" });
 */
export function memoryTransport(hub: MemoryHub = memoryHub()): TransportPlugin {
  return {
    type: "memory",
    session: defineFactory({
      options: sessionOptions,
      create: (_options, { id, role, clock }: SessionContext): Session => new MemorySession(hub.link(id, role), clock),
    }),
    receiver: {
      needsSession: false,
      topics: "refused",
      redelivers: "always",
      competing: true,
      ...defineFactory({
        options: receiverOptions,
        create: (options, { clock, session }: ReceiverContext) =>
          new MemoryReceiver({
            channel: hub.channel(options.channel),
            clock,
            session: memorySession(session),
            traits: {
              counts: options.counts,
              releasable: options.releasable,
              redeliveryDelayMs: options.redelivery_delay,
            },
          }),
      }),
    },
    sender: {
      needsSession: false,
      ...defineFactory({
        options: senderOptions,
        create: (options, { session }: SenderContext) =>
          new MemorySender({
            hub,
            session: memorySession(session),
            channel: options.channel,
            maxMessages: options.max_messages,
            discard: options.discard,
          }),
      }),
    },
  };
}

function memorySession(session: Session | undefined): MemorySession | undefined {
  if (session === undefined || session instanceof MemorySession) return session;
  throw new TypeError("a session of the memory transport was expected, made by the same plugin");
}
