import {
  type BindingConfig,
  type BridgeConfig,
  noStoreFactory,
  REDACTED,
  type ReceiverConfig,
  type Registry,
  type RouteConfig,
  type ShutdownBudgets,
} from "@bridge/config";
import type { DlqStore, OutboxStore, RouteTracer, Seams, SessionRole, Tracer } from "@bridge/ports";
import { atOnce, type Steps } from "@bridge/ports/internal";
import type { Accounts } from "../accounting/accounts.ts";
import { partKey } from "../change/part-graph.ts";
import { PartsById } from "../change/parts-by-id.ts";
import type { Controls } from "../control/controls.ts";
import type { Hooks } from "../hooks/hooks.ts";
import { Lease } from "../lease/lease.ts";
import type { Recent } from "../recent/recent.ts";
import { compileAddress } from "../route/address-template.ts";
import type { DueLooks } from "../route/due-looks.ts";
import { FailureLog } from "../route/failure-log.ts";
import { Intake } from "../route/intake.ts";
import { compileResolver } from "../route/resolver.ts";
import type { NamedProcessor, RouteParts, Target } from "../route/route-parts.ts";
import { StoreCalls } from "../route/store-calls.ts";
import { straysOf } from "../route/strays.ts";
import { Surprises } from "../route/surprises.ts";
import { Link } from "../session/link.ts";
import { sessionContext } from "../session/session-context.ts";
import type { Taps } from "../tap/taps.ts";
import { PluginParts } from "./plugin-parts.ts";
import { type Kept, NO_PARTS, type RuntimeParts } from "./runtime-parts.ts";
import { SharedParts } from "./shared-parts.ts";

export interface BuildOptions extends Seams {
  readonly config: BridgeConfig;
  readonly instanceId: string;
  readonly registry: Registry;
  readonly accounts: Accounts;
  readonly controls: Controls;
  readonly taps: Taps;
  readonly recent: Recent;
  /** The looks at progress, shared by all routes. */
  readonly looks: DueLooks;
  /** The open stores, when there are any. */
  readonly dlq: () => DlqStore | undefined;
  readonly outbox: () => OutboxStore | undefined;
  /** The shutdown budgets in force. */
  readonly budgets: () => ShutdownBudgets;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly hooks: Hooks;
  /** Removes secret values from errors. Default: there are none. */
  readonly veil?: ((text: string) => string) | undefined;
  /** Parts to reuse. Default: none. */
  readonly kept?: Kept;
}

/** As {@link building}, all in this turn. */
export function build(options: BuildOptions): RuntimeParts {
  return atOnce(building(options));
}

/**
 * Assembles a runtime from a configuration and the plugins that it names, one route per step.
 * @throws Error when a store type has no registered factory (spec 7.2), or another plugin is missing
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
    // Also when the caller abandons the remaining steps.
    if (!isBuilt) builder.discard();
  }
}

class Builder {
  readonly #options: BuildOptions;
  readonly #kept: Kept;
  readonly #index: PartsById;
  readonly #plugins: PluginParts;
  readonly #leases = this.#shared((parts) => parts.leases);
  readonly #links = this.#shared((parts) => parts.links);
  readonly #intakes = this.#shared((parts) => parts.intakes);
  readonly #senders = this.#shared((parts) => parts.senders);
  readonly #processors = this.#shared((parts) => parts.processors);

  constructor(options: BuildOptions) {
    this.#options = options;
    this.#index = new PartsById(options.config);
    this.#kept = options.kept ?? { parts: NO_PARTS, keys: new Set() };
    this.#plugins = new PluginParts(options.registry, options);
  }

  *build(): Steps<RuntimeParts> {
    const { config } = this.#options;
    const routes = new Map<string, RouteParts>();
    for (const route of config.routes) {
      yield;
      routes.set(partKey.route(route.id), this.#route(route));
    }
    // Connect every session that a part names, even if no route uses that part yet.
    for (const { sessionId } of config.receivers) {
      yield;
      this.#link(sessionId, "source");
    }
    for (const { sessionId } of [...config.senders, ...config.bindings]) {
      yield;
      this.#link(sessionId, "target");
    }
    return {
      leases: this.#leases.all,
      links: this.#links.all,
      intakes: this.#intakes.all,
      senders: this.#senders.all,
      processors: this.#processors.all,
      routes,
      managed: new Set(config.bindings.filter(({ managed }) => managed).flatMap(({ sessionId }) => sessionId ?? [])),
    };
  }

  /** Ends what plugins have built for it, but nothing already at work. */
  discard(): void {
    this.#plugins.discard();
  }

  #shared<Part>(kind: (parts: RuntimeParts) => ReadonlyMap<string, Part>): SharedParts<Part> {
    return new SharedParts((key) => this.#atWork(kind, key));
  }

  /** The part at work, if it stays unchanged. */
  #atWork<Part>(kind: (parts: RuntimeParts) => ReadonlyMap<string, Part>, key: string): Part | undefined {
    return this.#kept.keys.has(key) ? kind(this.#kept.parts).get(key) : undefined;
  }

  #route(route: RouteConfig): RouteParts {
    const { accounts, controls, looks, hooks, clock, random, logger, dlq, outbox, budgets, taps, recent } =
      this.#options;
    const receiver = found(this.#index.receivers, route.receiverId, "receiver");
    const sourceLink = this.#link(receiver.sessionId, "source");
    const bindings = route.bindings.map((id) => found(this.#index.bindings, id, "binding"));
    const tracer = this.#options.tracer?.route({
      routeId: route.id,
      receiverId: receiver.id,
      sessionId: receiver.sessionId,
      system: this.#plugins.system(receiver.transport),
    });
    // These parts belong to the runtime, whatever happens to the route.
    const [intake, processors, targets] = [
      this.#intakes.of(partKey.receiver(receiver.id), () => this.#intake(route, receiver, sourceLink)),
      route.processors.map((id) => this.#processor(id)),
      new Map(bindings.map((binding) => [binding.id, this.#target(route.id, binding, tracer)])),
    ];
    const atWork = this.#atWork(({ routes }) => routes, partKey.route(route.id));
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
      recent,
      unboundPlace: recent.legs.placeOf(route.id, ""),
      taps: taps.of(route.id),
      control: controls.route(route.id),
      looks,
      tracer,
      dlq,
      outbox,
      budgets,
    };
  }

  #intake(route: RouteConfig, config: ReceiverConfig, link: Link | undefined): Intake {
    const { id, topics } = config;
    const seams = this.#plugins.seams(id, { receiver_id: id });
    const { maxInFlight, maxReplayAttempts } = route.policy;
    let intake: Intake | undefined;
    const receiver = this.#plugins.receiver(config, {
      ...seams,
      session: link?.session,
      topics,
      maxReplayAttempts,
      get maxInFlight() {
        return intake?.maxInFlight ?? maxInFlight;
      },
    });
    intake = new Intake(id, receiver, seams, route.policy);
    return intake;
  }

  #target(routeId: string, binding: BindingConfig, tracer: RouteTracer | undefined): Target {
    const { accounts, clock, controls, recent, veil } = this.#options;
    const { sessionId } = binding;
    const link = this.#link(sessionId, "target");
    const config = found(this.#index.senders, binding.senderId, "sender");
    const key = partKey.sender(config.id, sessionId);
    const sender = this.#senders.of(key, () => this.#plugins.sender(config, link?.session));
    return {
      bindingId: binding.id,
      sender,
      strays: straysOf(sender, clock),
      address: compileAddress(binding.address, sender.addressing),
      hidesAddress: binding.hidesAddress === true,
      veil,
      link,
      rate: controls.sender(config.id),
      account: accounts.leg(routeId, binding.id),
      recentPlace: recent.legs.placeOf(routeId, binding.id),
      tracer: tracer?.binding({
        bindingId: binding.id,
        senderId: config.id,
        sessionId,
        system: this.#plugins.system(config.transport),
        address: binding.hidesAddress === true ? REDACTED : binding.address,
      }),
    };
  }

  /** The link of a session for `role`: sources and targets have separate connections. */
  #link(sessionId: string | undefined, role: SessionRole): Link | undefined {
    if (sessionId === undefined) return undefined;
    const session = found(this.#index.sessions, sessionId, "session");
    const lease = session.sessionMode === "exclusive" ? this.#lease(sessionId) : undefined;
    return this.#links.of(partKey.link(sessionId, role), () => {
      const context = sessionContext({ ...this.#options, session, role });
      return new Link({ sessionId, role, session: this.#plugins.session(session, context), lease });
    });
  }

  /** Both links of a session share one lease. */
  #lease(sessionId: string): Lease {
    const { bridge } = this.#options.config;
    return this.#leases.of(partKey.lease(sessionId), () => new Lease(sessionId, `${bridge.id}/${sessionId}`));
  }

  #processor(id: string): NamedProcessor {
    return this.#processors.of(partKey.processor(id), () => {
      const processor = this.#plugins.processor(found(this.#index.processors, id, "processor"));
      return { id, processor, strays: straysOf(processor, this.#options.clock) };
    });
  }
}

/** Validation ensures that it exists, but a hand-made configuration may not have been validated. */
function found<Part>(parts: ReadonlyMap<string, Part>, id: string, kind: string): Part {
  const part = parts.get(id);
  if (part === undefined) throw new Error(`the configuration has no ${kind} "${id}"`);
  return part;
}
