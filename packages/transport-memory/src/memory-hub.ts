import { BridgeError, type SessionRole } from "@bridge/ports";
import { MemoryChannel, type MemoryMessage } from "./memory-channel.ts";
import { MemoryLink } from "./memory-link.ts";

export interface MemoryHubOptions {
  /** The most messages that a channel holds, unsettled ones included. Default 100,000. */
  readonly maxMessages?: number;
  /** The most channels; an address may make new ones. Default 10,000. */
  readonly maxChannels?: number;
  /** How many of its last settlements a channel remembers, within 1 MiB of payloads. Default 1,000. */
  readonly history?: number;
}

const DEFAULTS = { maxMessages: 100_000, maxChannels: 10_000, history: 1_000 } as const;

/** The channels of a process, for whoever wants to publish into them, look into them, or break them. */
export class MemoryHub {
  readonly #options: Required<MemoryHubOptions>;
  readonly #channels = new Map<string, MemoryChannel>();
  readonly #links = new Map<string, MemoryLink>();

  constructor(options: MemoryHubOptions = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * The channel of this name, made when it is first asked for.
   * @throws BridgeError `UNAVAILABLE` when there are `maxChannels` others
   */
  channel(name: string): MemoryChannel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    if (this.#channels.size >= this.#options.maxChannels) {
      throw new BridgeError(
        "UNAVAILABLE",
        `no channel "${name}": the hub has ${this.#options.maxChannels} channels; use fewer addresses, or raise maxChannels`,
      );
    }
    const channel = new MemoryChannel(name, this.#options);
    this.#channels.set(name, channel);
    return channel;
  }

  /** The channels that have been named so far. */
  channels(): readonly MemoryChannel[] {
    return [...this.#channels.values()];
  }

  /** The link of one half of a session. */
  link(sessionId: string, role: SessionRole): MemoryLink {
    const key = `${role}:${sessionId}`;
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    const link = new MemoryLink(sessionId, role);
    this.#links.set(key, link);
    return link;
  }

  /**
   * Publishes into a channel.
   * @throws BridgeError `UNAVAILABLE` when the channel is full
   */
  publish(channel: string, message: MemoryMessage): void {
    this.channel(channel).publish(message);
  }
}

export function memoryHub(options?: MemoryHubOptions): MemoryHub {
  return new MemoryHub(options);
}
