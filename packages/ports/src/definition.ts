import { moreOptions } from "./given-options.ts";
import type {
  DlqStorePlugin,
  LeaseStorePlugin,
  OutboxStorePlugin,
  ProcessorPlugin,
  SessionMode,
  TransportPlugin,
} from "./plugin.ts";

/** The options of a part as a document would hold them; the schema of its plugin checks them. */
export type PartOptions = Readonly<Record<string, unknown>>;

/** Makes the options of a part that has to know its own id. */
export type NamedOptions = (id: string) => PartOptions;

/**
 * A transport, as definitions in code name it: by identity. Each bridge asks it for one plugin, so what the plugin shares
 * between its parts is shared in one bridge and not beyond it.
 */
export interface TransportMaker {
  /** The name under which documents ask for it. */
  readonly type: string;
  /** The plugin of one bridge. */
  plugin(uses: TransportUses): TransportPlugin;
}

/** The parts of one bridge that name a transport, by their ids in its document. */
export interface TransportUses {
  readonly receivers: ReadonlyMap<string, ReceiverDefinition>;
  readonly senders: ReadonlyMap<string, SenderDefinition>;
}

/** A connection to a broker, in code. Parts that name the same object share it. */
export interface SessionDefinition {
  readonly kind: "session";
  readonly transport: TransportMaker;
  readonly mode?: SessionMode | undefined;
  readonly options: PartOptions;
  /** Keys of the options that are shown as references, besides those that their schema calls secret. */
  readonly hidden?: readonly string[] | undefined;
}

/** Where a route takes messages from, in code: `from`. Each route that names it has a receiver of its own. */
export interface ReceiverDefinition {
  readonly kind: "receiver";
  readonly transport: TransportMaker;
  readonly session?: SessionDefinition | undefined;
  readonly topics?: readonly TopicDefinition[] | undefined;
  readonly options: PartOptions | NamedOptions;
}

/** What a receiver of a topic-based broker listens to. */
export interface TopicDefinition {
  readonly topic: string;
  /** Default: 1. */
  readonly qos?: 0 | 1 | 2 | undefined;
}

/** What sends, in code; in `to`, it is the target without an address. Targets that name the same object share it. */
export interface SenderDefinition {
  readonly kind: "sender";
  readonly transport: TransportMaker;
  readonly session?: SessionDefinition | undefined;
  readonly rate_limit?: SenderRateLimit | undefined;
  readonly options: PartOptions | NamedOptions;
}

/** How fast a sender sends, by all targets that share it together. */
export interface SenderRateLimit {
  /** How many messages go out each second, in the long run. */
  readonly messages_per_second: number;
  /** How many may go at once after a rest. Default: those of one second, at least 1. */
  readonly burst?: number | undefined;
}

/** An address at a sender, in code: what `to` takes. */
export interface TargetDefinition {
  readonly kind: "target";
  readonly sender: SenderDefinition;
  /** `{name}` stands for the value of that header, `{$subject}` and `{$id}` for the message's own. */
  readonly address: string;
}

/** A store in one role, in code. */
export interface StoreDefinition<Plugin> {
  readonly kind: "store";
  readonly plugin: Plugin;
  readonly options: PartOptions;
  /**
   * Lets the change that brings the store leave messages behind where nobody delivers or sees them. Not for leases.
   * Default: false.
   */
  readonly abandon_backlog?: boolean | undefined;
}

export type DlqStoreDefinition = StoreDefinition<DlqStorePlugin>;
export type OutboxStoreDefinition = StoreDefinition<OutboxStorePlugin>;
export type LeaseStoreDefinition = StoreDefinition<LeaseStorePlugin>;

/** A step of routes, in code. Routes that name the same object share it, with what it remembers. */
export interface ProcessorDefinition {
  readonly kind: "processor";
  readonly plugin: ProcessorPlugin;
  readonly options: PartOptions;
}

/** A sender whose targets are addresses. */
export interface AddressedSender extends SenderDefinition {
  /** What `to` takes: this address, at this sender. */
  at(address: string): TargetDefinition;
}

/** What may stand beside the options of a sender, in code. */
export interface RateLimited {
  /**
   * How fast messages are sent, by all targets of this sender together. A wait does not count as an attempt.
   * Default: no limit.
   */
  readonly rate_limit?: SenderRateLimit | undefined;
}

/** What may stand beside the options of a session, in code. */
export interface WithSessionMode {
  /**
   * `ephemeral`: the broker forgets the session with its connection. `persistent`: the broker keeps it, with what was not
   * settled. `exclusive`: persistent, and held by one instance at a time. Default: persistent.
   */
  readonly session_mode?: SessionMode | undefined;
}

/** A sender of a transport, for definitions in code. `given` are its options, with the rate limit beside them. */
export function addressedSender(
  link: Pick<SenderDefinition, "transport" | "session">,
  given?: object,
): AddressedSender {
  const { rate_limit, ...options } = moreOptions(`a sender of ${link.transport.type}`, given) as RateLimited;
  const sender: AddressedSender = {
    kind: "sender",
    ...link,
    ...(rate_limit !== undefined && { rate_limit }),
    options,
    at: (address) => ({ kind: "target", sender, address }),
  };
  return sender;
}

/** What sends over one session, or over none, in code. */
export interface Senders<Options> {
  /** What `to` takes: this address. Without options all addresses share one sender. */
  readonly at: (address: string, options?: Options & RateLimited) => TargetDefinition;
  /** A sender that several targets share. */
  readonly sender: (options?: Options & RateLimited) => AddressedSender;
}

/** Makes the senders of a transport, for definitions in code. */
export function sendersOf<Options extends object>(
  link: Pick<SenderDefinition, "transport" | "session">,
): Senders<Options> {
  const plain = addressedSender(link);
  return {
    at: (address, options) => (options === undefined ? plain : addressedSender(link, options)).at(address),
    sender: (options) => addressedSender(link, options),
  };
}
