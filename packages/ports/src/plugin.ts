import type { GenericSchema, InferOutput } from "valibot";
import type { DlqStore } from "./dlq-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { Processor } from "./processor.ts";
import type { Seams } from "./seams.ts";
import type { Receiver, Sender, Session, SessionRole } from "./transport.ts";

/** How far a store's data reaches. Validation compares it with the deployment mode; the engine knows no store by name. */
export type Reach =
  /** Lost when the process ends; needs the option `acknowledge_volatile: true`. */
  | "process"
  /** Kept, for one instance. */
  | "instance"
  /** Shared by all instances. */
  | "cluster";

/**
 * A part that the configuration can ask for: the schema of its options, and how to build it from options that the
 * schema has accepted. The options' type stays inside; make one with {@link defineFactory}.
 */
export interface Factory<Context, Part> {
  /** Strict: unknown keys are refused. Descriptions and defaults become the reference pages and the editors' schema. */
  readonly options: GenericSchema;
  /** `options` is the output of the schema. Opens nothing. */
  create(options: unknown, context: Context): Part;
}

/** Ties the type of `create`'s options to the schema that checks them. */
export function defineFactory<const Schema extends GenericSchema, Context, Part>(factory: {
  readonly options: Schema;
  readonly create: (options: InferOutput<Schema>, context: Context) => Part;
}): Factory<Context, Part> {
  return {
    options: factory.options,
    create: (options, context) => factory.create(options, context),
  };
}

export interface PluginContext extends Seams {
  /** The id of the part in the configuration. */
  readonly id: string;
}

/**
 * A kind of store that the configuration may name in one role.
 *
 * What opening it rejects with refuses a start or a change, but for `CONNECTION_LOST`, `TIMEOUT` and `THROTTLED`, and for what
 * says when to try again (`retryAfterMs`): then its service is away, or its disk full; the bridge goes on without it, and
 * opens it again and again until it is open. So does the bridge while an opening takes its time.
 */
export interface StorePlugin<Store> extends Factory<PluginContext, (signal: AbortSignal) => Promise<Store>> {
  readonly type: string;
  readonly reach: Reach;
  /** What it was made for; in another role it is refused before anything is opened. Default: whatever it is registered for. */
  readonly role?: "dlq" | "outbox" | "lease";
  /**
   * Where the data lies, for options that the schema has accepted: two blocks with one place hold the same messages,
   * whatever else their options say, and two stores cannot share one. Throws nothing and holds no secret. Default: each
   * difference of the options is another place.
   */
  readonly place?: (options: unknown) => string;
  /** Absent: opening a store makes what it needs. */
  readonly createTables?: TableMaker;
}

/**
 * Makes what has to be there before a store can be opened, or brings it up to date; idempotent, also when several do it at
 * once. Opening does not make it: whoever runs a bridge seldom may, and says when. `options` is the output of the schema.
 * Resolves to what was done, in lines for operators.
 */
export type TableMaker = (
  options: unknown,
  context: PluginContext,
) => (signal: AbortSignal) => Promise<readonly string[]>;

export type DlqStorePlugin = StorePlugin<DlqStore>;
export type OutboxStorePlugin = StorePlugin<OutboxStore>;
export type LeaseStorePlugin = StorePlugin<LeaseStore>;

export interface SessionContext extends PluginContext {
  /** `bridge.id` of the configuration: tells sessions of one name apart that several bridges open at one broker. */
  readonly bridgeId: string;
  /**
   * In a cluster, the name of this instance, when each instance opens this session for itself: at the broker they must
   * not be taken for one. Absent for a bridge that stands alone, and for an exclusive session, which the next holder of
   * its lease goes on with.
   */
  readonly replica?: string | undefined;
  readonly role: SessionRole;
  readonly sessionMode: SessionMode;
  /** The most deliveries that the routes fed by this session hold unsettled at once: the protocol's window. */
  readonly maxInFlight: number;
}

/**
 * `ephemeral`: the broker forgets the session when the connection ends. `persistent`: it keeps it, with what was not
 * settled. `exclusive`: persistent, and opened only by the holder of a lease.
 */
export type SessionMode = "ephemeral" | "persistent" | "exclusive";

export interface ReceiverContext extends PluginContext {
  /** The session that the configuration names for this receiver, built by the same plugin. */
  readonly session?: Session | undefined;
  readonly topics: readonly Topic[];
  /**
   * The window of the route that this receiver feeds, as it is now. A receiver without a session outlives a change of
   * it, so it reads this whenever it needs it; one on a session is built anew.
   */
  readonly maxInFlight: number;
  /**
   * The replay cap of that route when the receiver was built: for advice at startup about a source that gives up
   * earlier. A receiver outlives a change of it.
   */
  readonly maxReplayAttempts: number;
}

/** What a receiver of a topic-based broker listens to. */
export interface Topic {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
}

export interface SenderContext extends PluginContext {
  readonly session?: Session | undefined;
}

/** A transport, with the parts that it has. A part that is absent cannot be configured. */
export interface TransportPlugin {
  readonly type: string;
  /** What OpenTelemetry's conventions for messaging call the system, as in `rabbitmq`. Default: the type. */
  readonly messagingSystem?: string;
  readonly session?: Factory<SessionContext, Session> & SessionTraits;
  readonly receiver?: Factory<ReceiverContext, Receiver> & ReceiverTraits;
  readonly sender?: Factory<SenderContext, Sender> & SenderTraits;
}

export interface SessionTraits {
  /**
   * Under which names, each with its broker, a half of a session is known there; two sessions with one of them would take
   * each other's connection over for ever. `options` is the output of the schema. Default: it has no name.
   */
  readonly identities?: (
    options: unknown,
    context: Pick<SessionContext, "id" | "bridgeId" | "role">,
  ) => readonly string[];
  /**
   * Called when a configuration is in force that has neither the session nor another one of its {@link identities}: ends what
   * the broker keeps for its source half, if that holds no message, and keeps it from growing if it does. Resolves with
   * whether it is ended; rejects with a {@link BridgeError} when the broker cannot be asked. Default: it keeps nothing.
   */
  readonly leave?: (options: unknown, context: LeftSessionContext, signal: AbortSignal) => Promise<boolean>;
}

/** A session whose parts are disposed already. */
export interface LeftSessionContext extends SessionContext {
  /** What its receivers were subscribed to. */
  readonly topics: readonly Topic[];
}

/** Where a receiver waits for those who call. */
export interface Listening {
  /** `host:port`, `[::1]:port` or `:port`. */
  readonly addr: string;
  /** One receiver has it; those that begin with it may be another's. */
  readonly path: string;
  /** What all receivers of one address must have in common, such as their TLS; compared and never shown. */
  readonly shared: unknown;
}

/** Something that receivers make at a broker, such as a queue. */
export interface Made {
  /** Tells it from all others, those of other brokers, too; compared and never shown. */
  readonly name: string;
  /** In words, such as `queue`. */
  readonly kind: string;
  /** How it is made: what all who make it must have in common; compared and never shown. */
  readonly as: unknown;
}

export interface ReceiverTraits {
  readonly needsSession: boolean;
  /** Whether `topics` are required, allowed or refused. */
  readonly topics: "required" | "refused";
  /**
   * Whether the source keeps an unsettled message for later: always, never, or only on a session that outlives its
   * connection. Startup warns about a `direct_hold` route whose source does not.
   */
  readonly redelivers: "always" | "never" | "persistent-session";
  /**
   * Whether the source gives each message to one of the instances that listen to it, like a queue, rather than to each
   * of them. In a cluster a `direct_hold` route needs such a source, an exclusive session or `allow_unfenced`. A function
   * judges by topic, or, where topics are refused, by the receiver's options as they are written, with an empty topic.
   * Default: it does not.
   */
  readonly competing?: boolean | ((topic: string, options: unknown) => boolean);
  /** Where it listens; `options` is the output of the schema. Default: nowhere. */
  readonly listens?: (options: unknown, id: string) => Listening;
  /**
   * What the receiver makes at its broker when it is not there; two receivers may take from one such thing, but not make it
   * each in its own way. Both options are the outputs of the schemas. Default: it makes nothing that others could use.
   */
  readonly makes?: (options: unknown, sessionOptions: unknown) => Made | undefined;
  /** Why nothing can be listened to under `topic`, as the end of a sentence; `undefined` when it can. Default: it can. */
  readonly topicProblem?: (topic: string) => string | undefined;
}

export interface SenderTraits {
  readonly needsSession: boolean;
  /**
   * Why nothing can be sent to `address`, as the end of a sentence; `undefined` when it can. Each placeholder of the
   * binding stands there as one letter. Default: it can.
   */
  readonly addressProblem?: (address: string) => string | undefined;
}

export interface ProcessorPlugin extends Factory<PluginContext, Processor> {
  readonly type: string;
}
