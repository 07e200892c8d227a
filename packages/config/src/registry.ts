import type {
  DlqStorePlugin,
  LeaseStorePlugin,
  OutboxStorePlugin,
  ProcessorPlugin,
  StorePlugin,
  TransportMaker,
  TransportPlugin,
} from "@bridge/ports";
import type { StoreRole } from "./model.ts";
import { checkPlugins } from "./registry-input.ts";

/** The plugins that an application is built with. */
export interface Plugins {
  readonly transports?: readonly (TransportMaker | TransportPlugin)[];
  readonly dlqStores?: readonly DlqStorePlugin[];
  readonly outboxStores?: readonly OutboxStorePlugin[];
  readonly leaseStores?: readonly LeaseStorePlugin[];
  readonly processors?: readonly ProcessorPlugin[];
  /**
   * Types of transports and stores that another program of yours has, each with the name of that program; a
   * configuration that asks for one is refused with it. Default: none.
   */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

/** The plugins of an application, by type. */
export interface Registry {
  readonly transports: ReadonlyMap<string, TransportPlugin>;
  readonly dlqStores: ReadonlyMap<string, DlqStorePlugin>;
  readonly outboxStores: ReadonlyMap<string, OutboxStorePlugin>;
  readonly leaseStores: ReadonlyMap<string, LeaseStorePlugin>;
  readonly processors: ReadonlyMap<string, ProcessorPlugin>;
  /** What validation needs to know of the stores of each role. */
  readonly stores: Readonly<Record<StoreRole, ReadonlyMap<string, StorePlugin<unknown>>>>;
  /** Types that are not here, with the program that has them. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

/**
 * @throws Error when two plugins of one kind have the same type, as one of them could never be reached, and when
 * something is no plugin, or lacks what a plugin has; names the list, the plugin and the remedy
 */
export function createRegistry(plugins: Plugins): Registry {
  const transports = madeTransports(plugins ?? {});
  checkPlugins(transports === undefined ? plugins : { ...plugins, transports });
  const dlqStores = byType("DLQ store", plugins.dlqStores);
  const outboxStores = byType("outbox store", plugins.outboxStores);
  const leaseStores = byType("lease store", plugins.leaseStores);
  return {
    transports: byType("transport", transports),
    dlqStores,
    outboxStores,
    leaseStores,
    processors: byType("processor", plugins.processors),
    stores: { dlq: dlqStores, outbox: outboxStores, lease: leaseStores },
    elsewhere: new Map(Object.entries(plugins.elsewhere ?? {})),
  };
}

/** What is no list, or no transport, is left for the check. */
function madeTransports({ transports }: Plugins): readonly TransportPlugin[] | undefined {
  if (!Array.isArray(transports)) return undefined;
  return transports.map((one: TransportMaker | TransportPlugin) =>
    isMaker(one) ? one.plugin({ receivers: new Map(), senders: new Map() }) : one,
  );
}

function isMaker(transport: TransportMaker | TransportPlugin): transport is TransportMaker {
  return typeof (transport as Partial<TransportMaker> | undefined)?.plugin === "function";
}

function byType<Plugin extends { readonly type: string }>(
  kind: string,
  plugins: readonly Plugin[] = [],
): ReadonlyMap<string, Plugin> {
  const found = new Map<string, Plugin>();
  for (const plugin of plugins) {
    if (found.has(plugin.type)) throw new Error(`two ${kind} plugins have the type "${plugin.type}": register one`);
    found.set(plugin.type, plugin);
  }
  return found;
}
