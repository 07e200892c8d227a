import {
  type AddressedSender,
  type RateLimited,
  type ReceiverDefinition,
  sendersOf,
  type SessionDefinition,
  type TargetDefinition,
  type TransportMaker,
  type TransportPlugin,
  type WithSessionMode,
} from "@bridge/ports";
import { moreOptions } from "@bridge/ports/internal";
import { type MemoryHub, memoryHub } from "./memory-hub.ts";
import { memoryTransport } from "./memory-transport.ts";
import type { MemoryReceiverOptions, MemorySenderOptions } from "./option-types.ts";

/** What routes in code take messages from, and where they send them. */
export interface MemoryParts {
  /** Takes messages from a channel: for `from`. */
  channel(name: string, options?: Omit<MemoryReceiverOptions, "channel">): ReceiverDefinition;
  /** Puts messages into the channel of this name, which may hold placeholders: for `to`. */
  at(channel: string, options?: MemorySenderOptions & RateLimited): TargetDefinition;
  /** A sender that several targets share. */
  sender(options?: MemorySenderOptions & RateLimited): AddressedSender;
}

/** The transport `memory` over one hub, for definitions in code and for registries. */
export interface MemoryAdapter extends MemoryParts, TransportMaker {
  /** The channels, to publish into, to look into and to break. */
  readonly hub: MemoryHub;
  /** A session, whose connection `hub.link` can cut. */
  session(options?: WithSessionMode): SessionDefinition & MemoryParts;
  /** The plugin itself, for those who wrap it. */
  plugin(): TransportPlugin;
}

/**
 * Named channels inside the process, nothing of which survives it.
 *
 * @example
 * const inside = memory();
 * const bridge = defineBridge({
 *   id: "copy",
 *   stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
 *   routes: { copy: { from: inside.channel("in"), to: inside.at("out") } },
 * });
 * inside.hub.publish("in", { payload: "hello" });
 */
export function memory(hub: MemoryHub = memoryHub()): MemoryAdapter {
  const transport = { type: "memory", plugin: () => memoryTransport(hub) };
  const adapter: MemoryAdapter = Object.assign(transport, partsOf(transport), {
    hub,
    session: (options?: WithSessionMode) => {
      const { session_mode: mode }: WithSessionMode = moreOptions("a session of memory", options);
      const session: SessionDefinition = { kind: "session", transport, mode, options: {} };
      return Object.assign(session, partsOf(transport, session));
    },
  });
  return adapter;
}

function partsOf(transport: TransportMaker, session?: SessionDefinition): MemoryParts {
  const link = { transport, session };
  return {
    ...sendersOf<MemorySenderOptions>(link),
    channel: (name, options) => ({
      kind: "receiver",
      ...link,
      options: { ...moreOptions("a channel of memory", options), channel: name },
    }),
  };
}
