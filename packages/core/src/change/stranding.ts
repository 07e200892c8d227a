import { type BridgeConfig, samePlace, type StoreConfig, type Stranded, type StoreRole } from "@bridge/config";
import type { OutboxBacklog } from "@bridge/ports";
import { drainedBy } from "../outbox/undrained.ts";

/** Which messages a change could leave where nobody delivers or sees them. */
export interface Departures {
  /** Whether these records of the outbox would be out of reach. Absent: none could be. */
  readonly record?: (line: Pick<OutboxBacklog, "routeId" | "bindingId">) => boolean;
  /** Whether the dead letters would be out of sight. */
  readonly deadLetters: boolean;
}

/**
 * What a change from the configuration that carried messages so far could leave behind: a pure function, so that a change
 * that could leave nothing behind asks no store. A change that brings `abandon_backlog` may; one that only still has it may not.
 */
export function departures(from: BridgeConfig, to: BridgeConfig): Departures {
  const may = (role: StoreRole): boolean =>
    to.abandonBacklog?.includes(role) === true && from.abandonBacklog?.includes(role) !== true;
  const moves = (role: StoreRole): boolean =>
    from.stores[role] !== undefined && !may(role) && !samePlace(from.stores[role], to.stores[role]);
  const deadLetters = moves("dlq");
  if (from.stores.outbox === undefined || may("outbox")) return { deadLetters };
  // A store that is left is out of reach as a whole, with what nobody delivered before, too.
  if (moves("outbox")) return { deadLetters, record: () => true };
  const [isDrained, willBe] = [drainedBy(from), drainedBy(to)];
  const leaves = drainsOf(from).some((place) => !willBe(place));
  if (!leaves) return { deadLetters };
  return { deadLetters, record: (line) => isDrained(line) && !willBe(line) };
}

/** Whether a change could leave something behind that outlasts a process. */
export function couldStrand(from: BridgeConfig, to: BridgeConfig): boolean {
  const { outbox, dlq } = from.stores;
  const stores = { ...from.stores, outbox: outlasting(outbox), dlq: outlasting(dlq) };
  const { record, deadLetters } = departures({ ...from, stores }, to);
  return record !== undefined || deadLetters;
}

function outlasting(store: StoreConfig | undefined): StoreConfig | undefined {
  return store?.reach === "process" ? undefined : store;
}

/** The routes whose records nobody would deliver after the change; those that are on their way are waited for. */
export function drainsLeft(from: BridgeConfig, to: BridgeConfig): ReadonlySet<string> {
  const { record } = departures(from, to);
  if (record === undefined) return new Set();
  return new Set(drainsOf(from).flatMap((place) => (record(place) ? [place.routeId] : [])));
}

/**
 * The stores in which a change from `stored` could leave something behind, and that are not the open ones: only who runs `stored` can tell
 * what they hold. `open`: what the open ones were opened for; absent when none is.
 */
export function outOfSight(
  stored: BridgeConfig,
  to: BridgeConfig,
  open: BridgeConfig | undefined,
): readonly Stranded["store"][] {
  const { record, deadLetters } = departures(stored, to);
  const isOpen = (role: Stranded["store"]): boolean =>
    stored.stores[role] !== undefined && samePlace(stored.stores[role], open?.stores[role]);
  const roles = [...(record === undefined ? [] : (["outbox"] as const)), ...(deadLetters ? (["dlq"] as const) : [])];
  return roles.filter((role) => !isOpen(role));
}

function drainsOf({ routes }: BridgeConfig): readonly Pick<OutboxBacklog, "routeId" | "bindingId">[] {
  return routes
    .filter(({ deliveryMode }) => deliveryMode === "shared_outbox")
    .flatMap(({ id: routeId, bindings }) => bindings.map((bindingId) => ({ routeId, bindingId })));
}
