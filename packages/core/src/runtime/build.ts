import {
  type BindingConfig,
  type BridgeConfig,
  noStoreFactory,
  type Registry,
  type RouteConfig,
  type SessionConfig,
  type ShutdownBudgets,
} from "@bridge/config";
import type {
  DlqStore,
  OutboxStore,
  Receiver,
  Seams,
  Sender,
  Session,
  SessionRole,
  TransportPlugin,
} from "@bridge/ports";
import type { Accounts } from "../accounting/accounts.ts";
import type { Controls } from "../control/controls.ts";
import { compileAddress } from "../route/address-template.ts";
import { compileResolver } from "../route/resolver.ts";
import type { NamedProcessor, RouteParts, Target } from "../route/route-parts.ts";
import { Link } from "../session/link.ts";

/** The parts of a runtime, unstarted. Making them opens nothing. */
export interface RuntimeParts extends Seams {
  readonly config: BridgeConfig;
  readonly links: readonly Link[];
  readonly receivers: ReadonlyMap<string, Receiver>;
  /** By sender id and session: bindings of one sender share it unless they name different sessions. */
  readonly senders: ReadonlyMap<string, Sender>;
  readonly processors: readonly NamedProcessor[];
  readonly routes: readonly RouteParts[];
  /** Read when a stop begins. */
  readonly budgets: () => ShutdownBudgets;
}

export interface BuildOptions extends Seams {
  readonly config: BridgeConfig;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly controls: Controls;
  /** The open stores, when there are any. */
  readonly dlq: () => DlqStore | undefined;
  readonly outbox: () => OutboxStore | undefined;
  /** The shutdown budgets in force. */
  readonly budgets: () => ShutdownBudgets;
}

/**
 * Puts a runtime together from a configuration and the plugins that it names.
 * @throws Error when a store type has no registered factory (spec 7.2) or another plugin is missing
 */
export function build(options: BuildOptions): RuntimeParts {
  for (const [role, store] of Object.entries(options.config.stores)) {
    const known = options.registry.stores[role as keyof BridgeConfig["stores"]];
    if (store !== undefined && !known.has(store.type)) throw new Error(noStoreFactory(role, store.type, known.keys()));
  }
  return new Builder(options).build();
}

class Builder {
  readonly #options: BuildOptions;
  readonly #links = new Map<string, Link>();
  readonly #receivers = new Map<string, Receiver>();
  readonly #senders = new Map<string, Sender>();
  readonly #processors = new Map<string, NamedProcessor>();

  constructor(options: BuildOptions) {
    this.#options = options;
  }

  build(): RuntimeParts {
    const { config, clock, random, logger } = this.#options;
    const routes = config.routes.map((route) => this.#route(route));
    // A session that a part names is connected, also when no route uses that part yet.
    for (const { sessionId } of config.receivers) if (sessionId !== undefined) this.#link(sessionId, "source");
    for (const { sessionId } of [...config.senders, ...config.bindings]) {
      if (sessionId !== undefined) this.#link(sessionId, "target");
    }
    return {
      config,
      clock,
      random,
      logger,
      links: [...this.#links.values()],
      receivers: this.#receivers,
      senders: this.#senders,
      processors: [...this.#processors.values()],
      routes,
      budgets: this.#options.budgets,
    };
  }

  #route(route: RouteConfig): RouteParts {
    const { accounts, controls, clock, random, logger, dlq, outbox, budgets, config } = this.#options;
    const receiver = found(config.receivers, route.receiverId, "receiver");
    const sourceLink = receiver.sessionId === undefined ? undefined : this.#link(receiver.sessionId, "source");
    const bindings = route.bindings.map((id) => found(config.bindings, id, "binding"));
    return {
      config: route,
      clock,
      random,
      logger: logger.child({ route_id: route.id }),
      receiver: this.#receiver(route),
      sourceLink,
      processors: route.processors.map((id) => this.#processor(id)),
      resolver: compileResolver(route.resolver, route.bindings),
      targets: new Map(bindings.map((binding) => [binding.id, this.#target(route.id, binding)])),
      unbound: accounts.leg(route.id, ""),
      account: accounts.route(route.id),
      control: controls.route(route.id),
      dlq,
      outbox,
      budgets,
    };
  }

  #receiver(route: RouteConfig): Receiver {
    const { config } = this.#options;
    const { id, transport, sessionId, topics, options } = found(config.receivers, route.receiverId, "receiver");
    const { receiver: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no receiver`);
    const receiver = factory.create(options, {
      ...this.#seams(id, { receiver_id: id }),
      session: sessionId === undefined ? undefined : this.#link(sessionId, "source").session,
      topics,
      maxInFlight: route.policy.maxInFlight,
    });
    this.#receivers.set(id, receiver);
    return receiver;
  }

  #target(routeId: string, binding: BindingConfig): Target {
    const { config, accounts, controls } = this.#options;
    const link = binding.sessionId === undefined ? undefined : this.#link(binding.sessionId, "target");
    const { id, transport, options } = found(config.senders, binding.senderId, "sender");
    const key = binding.sessionId === undefined ? id : `${id} on session ${binding.sessionId}`;
    let sender = this.#senders.get(key);
    if (sender === undefined) {
      const { sender: factory } = this.#transport(transport);
      if (factory === undefined) throw new Error(`transport "${transport}" has no sender`);
      sender = factory.create(options, { ...this.#seams(id, { sender_id: id }), session: link?.session });
      this.#senders.set(key, sender);
    }
    return {
      bindingId: binding.id,
      sender,
      address: compileAddress(binding.address, sender.addressing),
      link,
      rate: controls.sender(id),
      account: accounts.leg(routeId, binding.id),
    };
  }

  /** The half of a session that serves `role`; sources and targets use connections of their own. */
  #link(sessionId: string, role: SessionRole): Link {
    const key = JSON.stringify([sessionId, role]);
    let link = this.#links.get(key);
    if (link === undefined) {
      const { config } = this.#options;
      const managed = config.bindings.some((binding) => binding.managed && binding.sessionId === sessionId);
      const session = this.#session(found(config.sessions, sessionId, "session"), role);
      link = new Link({ sessionId, role, managed, session });
      this.#links.set(key, link);
    }
    return link;
  }

  #session({ id, transport, sessionMode, options }: SessionConfig, role: SessionRole): Session {
    const { config } = this.#options;
    const { session: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no sessions`);
    const fed = new Set(
      config.receivers.filter((receiver) => receiver.sessionId === id).map((receiver) => receiver.id),
    );
    const windows = config.routes.filter((route) => fed.has(route.receiverId)).map((route) => route.policy.maxInFlight);
    return factory.create(options, {
      ...this.#seams(id, { session_id: id, role }),
      role,
      sessionMode,
      maxInFlight: windows.reduce((sum, window) => sum + window, 0),
    });
  }

  #processor(id: string): NamedProcessor {
    const { config, registry } = this.#options;
    let named = this.#processors.get(id);
    if (named === undefined) {
      const { type, options } = found(config.processors, id, "processor");
      const plugin = registry.processors.get(type);
      if (plugin === undefined) throw new Error(`no processor plugin is registered for type "${type}"`);
      named = { id, processor: plugin.create(options, this.#seams(id, { processor_id: id })) };
      this.#processors.set(id, named);
    }
    return named;
  }

  #transport(type: string): TransportPlugin {
    const plugin = this.#options.registry.transports.get(type);
    if (plugin === undefined) throw new Error(`no transport plugin is registered for type "${type}"`);
    return plugin;
  }

  #seams(id: string, fields: Readonly<Record<string, string>>): Seams & { readonly id: string } {
    const { clock, random, logger } = this.#options;
    return { id, clock, random, logger: logger.child(fields) };
  }
}

/** Validation has made sure that it is there; a configuration made by hand may not have been validated. */
function found<Part extends { readonly id: string }>(parts: readonly Part[], id: string, kind: string): Part {
  const part = parts.find((one) => one.id === id);
  if (part === undefined) throw new Error(`the configuration has no ${kind} "${id}"`);
  return part;
}
