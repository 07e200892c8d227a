import {
  type BindingConfig,
  type BridgeConfig,
  noStoreFactory,
  REDACTED,
  type ReceiverConfig,
  type Registry,
  type RouteConfig,
  type SessionConfig,
  type ShutdownBudgets,
} from "@bridge/config";
import {
  type DlqStore,
  type OutboxStore,
  type RouteTracer,
  type Seams,
  type Sender,
  type Session,
  type SessionRole,
  type Tracer,
  type TransportPlugin,
} from "@bridge/ports";
import { atOnce, type Steps } from "@bridge/ports/internal";
import type { Accounts } from "../accounting/accounts.ts";
import { partKey } from "../change/part-graph.ts";
import { PartsById } from "../change/parts-by-id.ts";
import type { Controls } from "../control/controls.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { compileAddress } from "../route/address-template.ts";
import type { DueLooks } from "../route/due-looks.ts";
import { FailureLog } from "../route/failure-log.ts";
import { compileResolver } from "../route/resolver.ts";
import { Intake } from "../route/intake.ts";
import type { NamedProcessor, RouteParts, Target } from "../route/route-parts.ts";
import { StoreCalls } from "../route/store-calls.ts";
import { straysOf } from "../route/strays.ts";
import { Surprises } from "../route/surprises.ts";
import { Lease } from "../lease/lease.ts";
import { Link } from "../session/link.ts";
import { sessionContext } from "../session/session-context.ts";
import { builtPart, type PartKind } from "./built-part.ts";
import { discard } from "./discard.ts";

/** The parts of a runtime, each by its `partKey`. Making them opens nothing. */
export interface RuntimeParts {
  /** Of the exclusive sessions. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly links: ReadonlyMap<string, Link>;
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly senders: ReadonlyMap<string, Sender>;
  readonly processors: ReadonlyMap<string, NamedProcessor>;
  readonly routes: ReadonlyMap<string, RouteParts>;
  /** The sessions that a binding names; others are "unmanaged" in a stop error (spec 3.3). */
  readonly managed: ReadonlySet<string>;
}

export const NO_PARTS: RuntimeParts = {
  leases: new Map(),
  links: new Map(),
  intakes: new Map(),
  senders: new Map(),
  processors: new Map(),
  routes: new Map(),
  managed: new Set(),
};

/** Parts that are at work, and which of them stay as they are, by `partKey`. */
export interface Kept {
  readonly parts: RuntimeParts;
  readonly keys: ReadonlySet<string>;
}

export interface BuildOptions extends Seams {
  readonly config: BridgeConfig;
  readonly instanceId: string;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly controls: Controls;
  /** At how routes get on, of all routes together. */
  readonly looks: DueLooks;
  /** The open stores, when there are any. */
  readonly dlq: () => DlqStore | undefined;
  readonly outbox: () => OutboxStore | undefined;
  /** The shutdown budgets in force. */
  readonly budgets: () => ShutdownBudgets;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly hooks: Hooks;
  /** Takes out of errors what came in through references. Default: nothing did. */
  readonly veil?: ((text: string) => string) | undefined;
  /** Parts to use again. Default: none. */
  readonly kept?: Kept;
}

/** As {@link building}, in this turn. */
export function build(options: BuildOptions): RuntimeParts {
  return atOnce(building(options));
}

/**
 * Puts a runtime together from a configuration and the plugins that it names, a route a step.
 * @throws Error when a store type has no registered factory (spec 7.2) or another plugin is missing
 */
export function* building(options: BuildOptions): Steps<RuntimeParts> {
  for (const [role, store] of Object.entries(options.config.stores)) {
    const known = options.registry.stores[role as keyof BridgeConfig["stores"]];
    if (store !== undefined && !known.has(store.type)) throw new Error(noStoreFactory(role, store.type, known.keys()));
  }
  const builder = new Builder(options);
  let isBuilt = false;
  try {
    const parts = yield* builder.build();
    isBuilt = true;
    return parts;
  } finally {
    // Also when nobody takes the rest of the steps.
    if (!isBuilt) for (const part of builder.made) discard(part);
  }
}

class Builder {
  /** What plugins have built for it: not what is at work already. */
  readonly made: unknown[] = [];
  readonly #options: BuildOptions;
  readonly #kept: Kept;
  readonly #index: PartsById;
  readonly #leases = new Map<string, Lease>();
  readonly #links = new Map<string, Link>();
  readonly #intakes = new Map<string, Intake>();
  readonly #senders = new Map<string, Sender>();
  readonly #processors = new Map<string, NamedProcessor>();

  constructor(options: BuildOptions) {
    this.#options = options;
    this.#index = new PartsById(options.config);
    this.#kept = options.kept ?? { parts: NO_PARTS, keys: new Set() };
  }

  *build(): Steps<RuntimeParts> {
    const { config } = this.#options;
    const routes = new Map<string, RouteParts>();
    for (const route of config.routes) {
      yield;
      routes.set(partKey.route(route.id), this.#route(route));
    }
    // A session that a part names is connected, also when no route uses that part yet.
    for (const { sessionId } of config.receivers) {
      yield;
      if (sessionId !== undefined) this.#link(sessionId, "source");
    }
    for (const { sessionId } of [...config.senders, ...config.bindings]) {
      yield;
      if (sessionId !== undefined) this.#link(sessionId, "target");
    }
    return {
      leases: this.#leases,
      links: this.#links,
      intakes: this.#intakes,
      senders: this.#senders,
      processors: this.#processors,
      routes,
      managed: new Set(config.bindings.filter(({ managed }) => managed).flatMap(({ sessionId }) => sessionId ?? [])),
    };
  }

  #part<Part>(built: Part, kind: PartKind, by: string): Part {
    const part = builtPart(built, kind, by);
    this.made.push(part);
    return part;
  }

  /** A part that is at work and stays as it is. */
  #atWork<Part>(parts: ReadonlyMap<string, Part>, key: string): Part | undefined {
    return this.#kept.keys.has(key) ? parts.get(key) : undefined;
  }

  #route(route: RouteConfig): RouteParts {
    const { accounts, controls, looks, hooks, clock, random, logger, dlq, outbox, budgets } = this.#options;
    const receiver = found(this.#index.receivers, route.receiverId, "receiver");
    const sourceLink = receiver.sessionId === undefined ? undefined : this.#link(receiver.sessionId, "source");
    const bindings = route.bindings.map((id) => found(this.#index.bindings, id, "binding"));
    const tracer = this.#options.tracer?.route({
      routeId: route.id,
      receiverId: receiver.id,
      sessionId: receiver.sessionId,
      system: this.#system(receiver.transport),
    });
    // Whatever becomes of the route, its parts belong to the runtime.
    const [intake, processors, targets] = [
      this.#intake(route),
      route.processors.map((id) => this.#processor(id)),
      new Map(bindings.map((binding) => [binding.id, this.#target(route.id, binding, tracer)])),
    ];
    const atWork = this.#atWork(this.#kept.parts.routes, partKey.route(route.id));
    if (atWork !== undefined) return atWork;
    const ownLogger = logger.child({ route_id: route.id });
    return {
      config: route,
      clock,
      random,
      logger: ownLogger,
      surprises: new Surprises(ownLogger, clock),
      failureLog: new FailureLog(ownLogger, clock),
      hooks,
      storeCalls: { dlq: new StoreCalls(clock), outbox: new StoreCalls(clock) },
      intake,
      sourceLink,
      processors,
      resolver: compileResolver(route.resolver, route.bindings),
      targets,
      unbound: accounts.leg(route.id, ""),
      account: accounts.route(route.id),
      control: controls.route(route.id),
      looks,
      tracer,
      dlq,
      outbox,
      budgets,
    };
  }

  #intake(route: RouteConfig): Intake {
    const config = found(this.#index.receivers, route.receiverId, "receiver");
    const key = partKey.receiver(config.id);
    const intake = this.#atWork(this.#kept.parts.intakes, key) ?? this.#newIntake(route, config);
    this.#intakes.set(key, intake);
    return intake;
  }

  #newIntake(route: RouteConfig, { id, transport, sessionId, topics, options }: ReceiverConfig): Intake {
    const { receiver: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no receiver`);
    const seams = this.#seams(id, { receiver_id: id });
    const session = sessionId === undefined ? undefined : this.#link(sessionId, "source").session;
    const { maxInFlight, maxReplayAttempts } = route.policy;
    let intake: Intake | undefined;
    const receiver = factory.create(options, {
      ...seams,
      session,
      topics,
      maxReplayAttempts,
      get maxInFlight() {
        return intake?.maxInFlight ?? maxInFlight;
      },
    });
    intake = new Intake(id, this.#part(receiver, "receiver", builtBy(transport, "receiver", id)), seams);
    return intake;
  }

  #target(routeId: string, binding: BindingConfig, tracer: RouteTracer | undefined): Target {
    const { accounts, controls } = this.#options;
    const link = binding.sessionId === undefined ? undefined : this.#link(binding.sessionId, "target");
    const { id, transport, options } = found(this.#index.senders, binding.senderId, "sender");
    const key = partKey.sender(id, binding.sessionId);
    let sender = this.#senders.get(key) ?? this.#atWork(this.#kept.parts.senders, key);
    if (sender === undefined) {
      const { sender: factory } = this.#transport(transport);
      if (factory === undefined) throw new Error(`transport "${transport}" has no sender`);
      const built = factory.create(options, { ...this.#seams(id, { sender_id: id }), session: link?.session });
      sender = this.#part(built, "sender", builtBy(transport, "sender", id));
    }
    this.#senders.set(key, sender);
    return {
      bindingId: binding.id,
      sender,
      strays: straysOf(sender, this.#options.clock),
      address: compileAddress(binding.address, sender.addressing),
      hidesAddress: binding.hidesAddress === true,
      veil: this.#options.veil,
      link,
      rate: controls.sender(id),
      account: accounts.leg(routeId, binding.id),
      tracer: tracer?.binding({
        bindingId: binding.id,
        senderId: id,
        sessionId: binding.sessionId,
        system: this.#system(transport),
        address: binding.hidesAddress === true ? REDACTED : binding.address,
      }),
    };
  }

  /** The half of a session that serves `role`; sources and targets use connections of their own. */
  #link(sessionId: string, role: SessionRole): Link {
    const key = partKey.link(sessionId, role);
    let link = this.#links.get(key);
    if (link !== undefined) return link;
    const session = found(this.#index.sessions, sessionId, "session");
    const lease = session.sessionMode === "exclusive" ? this.#lease(sessionId) : undefined;
    link = this.#atWork(this.#kept.parts.links, key);
    link ??= new Link({ sessionId, role, session: this.#session(session, role), lease });
    this.#links.set(key, link);
    return link;
  }

  /** Both halves of a session stand under one lease. */
  #lease(sessionId: string): Lease {
    const key = partKey.lease(sessionId);
    const lease =
      this.#leases.get(key) ??
      this.#atWork(this.#kept.parts.leases, key) ??
      new Lease(sessionId, `${this.#options.config.bridge.id}/${sessionId}`);
    this.#leases.set(key, lease);
    return lease;
  }

  #session(session: SessionConfig, role: SessionRole): Session {
    const { transport, options } = session;
    const { session: factory } = this.#transport(transport);
    if (factory === undefined) throw new Error(`transport "${transport}" has no sessions`);
    const built = factory.create(options, sessionContext({ ...this.#options, session, role }));
    return this.#part(built, "session", builtBy(transport, "session", session.id));
  }

  #processor(id: string): NamedProcessor {
    const { registry } = this.#options;
    const key = partKey.processor(id);
    let named = this.#processors.get(key) ?? this.#atWork(this.#kept.parts.processors, key);
    if (named === undefined) {
      const { type, options } = found(this.#index.processors, id, "processor");
      const plugin = registry.processors.get(type);
      if (plugin === undefined) throw new Error(`no processor plugin is registered for type "${type}"`);
      const built = plugin.create(options, this.#seams(id, { processor_id: id }));
      const processor = this.#part(built, "processor", `create of the processor plugin "${type}", for "${id}",`);
      named = { id, processor, strays: straysOf(processor, this.#options.clock) };
    }
    this.#processors.set(key, named);
    return named;
  }

  #transport(type: string): TransportPlugin {
    const plugin = this.#options.registry.transports.get(type);
    if (plugin === undefined) throw new Error(`no transport plugin is registered for type "${type}"`);
    return plugin;
  }

  #system(transport: string): string {
    return this.#transport(transport).messagingSystem ?? transport;
  }

  #seams(id: string, fields: Readonly<Record<string, string>>): Seams & { readonly id: string } {
    const { clock, random, logger } = this.#options;
    return { id, clock, random, logger: logger.child(fields) };
  }
}

function builtBy(transport: string, kind: "session" | "receiver" | "sender", id: string): string {
  return `${kind}.create of the transport plugin "${transport}", for "${id}",`;
}

/** Validation has made sure that it is there; a configuration made by hand may not have been validated. */
function found<Part>(parts: ReadonlyMap<string, Part>, id: string, kind: string): Part {
  const part = parts.get(id);
  if (part === undefined) throw new Error(`the configuration has no ${kind} "${id}"`);
  return part;
}
