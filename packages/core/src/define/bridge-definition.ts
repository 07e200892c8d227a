import type { BridgeDocument } from "@bridge/config";
import type {
  DlqStoreDefinition,
  LeaseStoreDefinition,
  OutboxStoreDefinition,
  ProcessorDefinition,
  ReceiverDefinition,
  SenderDefinition,
  SessionDefinition,
  TargetDefinition,
} from "@bridge/ports";

import type { BridgeHooks } from "../hooks/bridge-hooks.ts";

type RouteBlock = NonNullable<BridgeDocument["routes"]>[number];

/** A bridge in code: what {@link defineBridge} takes. */
export interface BridgeDefinition extends Pick<
  BridgeDocument,
  "config" | "config_watch" | "http" | "audit" | "telemetry"
> {
  /** Names the bridge. */
  readonly id: string;
  /** The instance as a whole. */
  readonly bridge?: Omit<BridgeDocument["bridge"], "id"> | undefined;
  /** The stores, one for each role. */
  readonly stores?: StoreDefinitions | undefined;
  /**
   * Names sessions, which brokers may know by their names. A session that stands only in routes is called like its transport;
   * of two of one transport, name both.
   */
  readonly sessions?: Readonly<Record<string, SessionDefinition>> | undefined;
  /** Names senders. One that stands only in routes is called like the first binding of its. */
  readonly senders?: Readonly<Record<string, SenderDefinition>> | undefined;
  /** Names processors. One that stands only in routes is called `<route>.<type>`. */
  readonly processors?: Readonly<Record<string, ProcessorDefinition>> | undefined;
  /** From a receiver to targets, by the id of the route. */
  readonly routes: Readonly<Record<string, RouteDefinition>>;
  /** Functions of yours that are told what happens. They are no part of the document. */
  readonly hooks?: BridgeHooks | undefined;
}

/** The stores of a bridge in code. */
export interface StoreDefinitions {
  /** Keeps dead letters. Needed by every route whose policy says `dlq`. */
  readonly dlq?: DlqStoreDefinition | undefined;
  /** Keeps accepted messages until they are sent. Needed by `shared_outbox` routes. */
  readonly outbox?: OutboxStoreDefinition | undefined;
  /** Decides which instance holds an exclusive session. Needed when there is such a session. */
  readonly lease?: LeaseStoreDefinition | undefined;
}

/** Where a message can go: an address at a sender, or a sender that needs none. */
export type Target = TargetDefinition | SenderDefinition;

/** A route in code. Its receiver has the id of the route. */
export interface RouteDefinition extends Omit<RouteBlock, "id" | "receiver_id" | "bindings" | "processors"> {
  /** Where messages come from, such as `rabbit.queue("orders")`. */
  readonly from: ReceiverDefinition;
  /**
   * Where they go, such as `http({ url }).at("/orders")`. The binding has the id of the route. Of several, as a list or by
   * name, each message goes to all (`fan_out`) unless `dispatch_mode` or `resolver` says otherwise; their ids are
   * `<route>.1`, `<route>.2` and so on, or `<route>.<name>`, and a resolver calls them `1`, `2`, or by their names.
   */
  readonly to: Target | readonly [Target, ...Target[]] | TargetsByName;
  /** The processors that each message passes, in this order. */
  readonly processors?: readonly ProcessorDefinition[] | undefined;
}

/** The targets of a route, by the names that its resolver has for them. */
export interface TargetsByName {
  readonly [name: string]: Target;
  /** Has the compiler compare a list with the lists that there may be: it then says how many targets are missing. */
  readonly [Symbol.iterator]?: never;
}
