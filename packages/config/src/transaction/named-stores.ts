import type { Clock, StoredConfig } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { checkValue } from "../check/check-value.ts";
import { HiddenValues } from "../check/hidden-values.ts";
import { isBlock } from "../check/schema-shape.ts";
import { valueAt } from "../check/value-at.ts";
import type { StoreConfig, StoresSection } from "../model.ts";
import { type ReferenceSources, resolveReferences } from "../references.ts";
import type { Registry } from "../registry.ts";
import { readWithin } from "./read-within.ts";
import type { Stranded } from "./stranding.ts";

/** The stores that keep messages, as a configuration has them. */
export type NamedStores = Pick<StoresSection, Stranded["store"]>;

/** Which stores a document names, which nobody need be able to run. Never rejects. */
export type StoresOf = (document: StoredConfig["document"]) => Promise<NamedStores>;

interface Sight {
  readonly registry: Registry;
  readonly sources: ReferenceSources;
  readonly clock: Clock;
}

export const LEFT_ROLES: readonly Stranded["store"][] = ["outbox", "dlq"];

const NEVER = new AbortController().signal;

/**
 * As whoever runs a document would open them. A reference that cannot be read stands for itself: two that are the same
 * name the same place. Where the options are of no use to the plugin, or there is none, they are the place as they are
 * written.
 */
export function namedStores({ registry, sources, clock }: Sight): StoresOf {
  const named = async (role: Stranded["store"], written: unknown): Promise<StoreConfig | undefined> => {
    if (!isBlock(written)) return undefined;
    const { block, fromReference } = await readWithin(clock, NEVER, async (signal) => {
      const resolved = await resolveReferences(written, sources, signal, new Slices(clock));
      return { block: resolved.document, fromReference: resolved.fromReference };
    }).catch(() => ({ block: written, fromReference: [] }));
    const { type, options = {} } = isBlock(block) ? block : {};
    if (typeof type !== "string") return undefined;
    const asWritten: StoreConfig = { type, options: written["options"], reach: "instance" };
    const plugin = registry.stores[role].get(type);
    if (plugin === undefined) return asWritten;
    const hidden = new HiddenValues(block);
    hidden.hideReferences(fromReference);
    try {
      const { output, problems } = checkValue(plugin.options, options, ["options"], hidden);
      if (problems.length > 0) return { ...asWritten, reach: plugin.reach };
      const place = plugin.place?.(output);
      return { type, options: output, reach: plugin.reach, ...(place !== undefined && { place }) };
    } catch {
      return { ...asWritten, reach: plugin.reach };
    }
  };
  return async (document) => {
    const stores = await Promise.all(
      LEFT_ROLES.map(async (role) => [role, await named(role, valueAt(document, ["stores", role]))] as const),
    );
    return Object.fromEntries(stores.filter(([, store]) => store !== undefined));
  };
}
