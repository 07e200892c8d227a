import type {
  DlqStoreDefinition,
  LeaseStoreDefinition,
  OutboxStoreDefinition,
  ProcessorDefinition,
  StoreDefinition,
} from "./definition.ts";
import { givenOptions } from "./given-options.ts";
import type { DlqStorePlugin, LeaseStorePlugin, OutboxStorePlugin, ProcessorPlugin } from "./plugin.ts";

/** What may stand beside the options of a store of messages, in code. */
export interface KeepsMessages {
  /** Lets the change that brings the store leave messages behind where nobody delivers or sees them. Default: false. */
  readonly abandon_backlog?: boolean | undefined;
}

/** A DLQ store: called with its options it is what `stores` takes, by itself it is what a registry takes. */
export interface DlqStoreAdapter<Options> extends DlqStorePlugin {
  (options: Options & KeepsMessages): DlqStoreDefinition;
}

/** An outbox store: called with its options it is what `stores` takes, by itself it is what a registry takes. */
export interface OutboxStoreAdapter<Options> extends OutboxStorePlugin {
  (options: Options & KeepsMessages): OutboxStoreDefinition;
}

/** A lease store: called with its options it is what `stores` takes, by itself it is what a registry takes. */
export interface LeaseStoreAdapter<Options> extends LeaseStorePlugin {
  (options: Options): LeaseStoreDefinition;
}

/** A processor: called with its options it is what a route takes, by itself it is what a registry takes. */
export interface ProcessorAdapter<Options> extends ProcessorPlugin {
  (options: Options): ProcessorDefinition;
}

/** Makes a DLQ, outbox or lease store that programs call with its options. */
export function storeAdapter<Plugin extends DlqStorePlugin | OutboxStorePlugin | LeaseStorePlugin>(
  plugin: Plugin,
): Plugin & ((options: object) => StoreDefinition<Plugin>) {
  const define = (given: object): StoreDefinition<Plugin> => {
    const { abandon_backlog, ...options } = optionsOf("store", plugin, given) as KeepsMessages;
    return { kind: "store", plugin, options, ...(abandon_backlog !== undefined && { abandon_backlog }) };
  };
  return Object.assign(define, plugin);
}

/** Makes a processor that programs call with its options. */
export function processorAdapter<Plugin extends ProcessorPlugin>(
  plugin: Plugin,
): Plugin & ((options: object) => ProcessorDefinition) {
  const define = (options: object): ProcessorDefinition => ({
    kind: "processor",
    plugin,
    options: { ...optionsOf("processor", plugin, options) },
  });
  return Object.assign(define, plugin);
}

/** @throws TypeError that names the keys which there are, when `given` is no object */
function optionsOf(kind: string, { type, options }: Pick<ProcessorPlugin, "type" | "options">, given: object): object {
  const { entries = {} } = options as { readonly entries?: object };
  const keys = Object.keys(entries);
  const remedy = keys.length === 0 ? "an object" : `an object with ${keys.join(", ")}`;
  return givenOptions(`${kind} "${type}"`, given, remedy);
}
