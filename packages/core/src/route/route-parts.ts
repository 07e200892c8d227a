import type { RouteConfig, ShutdownBudgets } from "@bridge/config";
import type { BindingTracer, DlqStore, OutboxStore, Processor, RouteTracer, Seams, Sender } from "@bridge/ports";
import type { RouteAccount } from "../accounting/accounts.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { LegAccount } from "../accounting/leg-account.ts";
import type { RouteControl } from "../control/controls.ts";
import type { RateLimiter } from "../control/rate-limiter.ts";
import type { Recent } from "../recent/recent.ts";
import type { Link } from "../session/link.ts";
import type { RouteTaps } from "../tap/taps.ts";
import type { AddressOf } from "./address-template.ts";
import type { DueLooks } from "./due-looks.ts";
import type { FailureLog } from "./failure-log.ts";
import type { Intake } from "./intake.ts";
import type { Resolver } from "./resolver.ts";
import type { StoreCalls } from "./store-calls.ts";
import type { Strays } from "./strays.ts";
import type { Surprises } from "./surprises.ts";

/** A binding as a route uses it. */
export interface Target {
  readonly bindingId: string;
  readonly sender: Sender;
  readonly address: AddressOf;
  /** Whether the address came in through a secret reference, and so must not be shown. */
  readonly hidesAddress: boolean;
  /** Removes secret values from errors. Absent if there are none. */
  readonly veil?: ((text: string) => string) | undefined;
  /** Shared by all bindings of the sender. */
  readonly strays: Strays;
  /** The link that its sends use; absent for a sender without a session. */
  readonly link: Link | undefined;
  /** Shared by all bindings of the sender. */
  readonly rate: RateLimiter;
  readonly account: LegAccount;
  /** The number that {@link Recent} keeps its legs under. */
  readonly recentPlace: number;
  /** Absent unless the bridge traces. */
  readonly tracer: BindingTracer | undefined;
}

export interface NamedProcessor {
  readonly id: string;
  readonly processor: Processor;
  /** Shared by all routes that name it. */
  readonly strays: Strays;
}

/** Everything that makes up a route; the builder assembles it. */
export interface RouteParts extends Seams {
  readonly config: RouteConfig;
  readonly intake: Intake;
  /** The link that its deliveries arrive on; absent for a receiver without a session. */
  readonly sourceLink: Link | undefined;
  readonly processors: readonly NamedProcessor[];
  readonly resolver: Resolver;
  readonly targets: ReadonlyMap<string, Target>;
  /** Account of the legs that end before a binding is chosen. */
  readonly unbound: LegAccount;
  readonly account: RouteAccount;
  /** How legs of all routes ended. */
  readonly recent: Recent;
  /** The place of legs that end before a binding is chosen. */
  readonly unboundPlace: number;
  readonly taps: RouteTaps;
  readonly control: RouteControl;
  /** Shared by all routes. */
  readonly looks: DueLooks;
  readonly surprises: Surprises;
  readonly failureLog: FailureLog;
  readonly hooks: Hooks;
  readonly storeCalls: { readonly dlq: StoreCalls; readonly outbox: StoreCalls };
  /** Absent unless the bridge traces. */
  readonly tracer: RouteTracer | undefined;
  /** The open DLQ store. The runtime owns it; `undefined` when no policy of the route says `dlq`. */
  readonly dlq: () => DlqStore | undefined;
  /** The open outbox store. The runtime owns it; `undefined` when no route is `shared_outbox`. */
  readonly outbox: () => OutboxStore | undefined;
  readonly budgets: () => ShutdownBudgets;
}
