import type { BridgeConfig, RouteConfig, StoreRole } from "@bridge/config";
import type { SessionRole } from "@bridge/ports";
import type { Steps } from "@bridge/ports/internal";
import { PartsById } from "./parts-by-id.ts";

/** A part of a runtime as a configuration describes it; two that are described alike may stand in for each other. */
export interface PartDescription {
  readonly content: unknown;
  /** The parts that it is built on: when one of them goes, it goes too. */
  readonly needs: readonly string[];
}

export const ROLES: readonly SessionRole[] = ["source", "target"];
export const STORE_ROLES: readonly StoreRole[] = ["dlq", "outbox", "lease"];

/** The names of parts, unique over all kinds of them. */
export const partKey = {
  lease: (sessionId: string): string => `lease ${sessionId}`,
  link: (sessionId: string, role: SessionRole): string => `link ${sessionId} ${role}`,
  receiver: (id: string): string => `receiver ${id}`,
  /** Bindings of one sender share it unless they name different sessions. */
  sender: (id: string, sessionId: string | undefined): string =>
    sessionId === undefined ? `sender ${id}` : `sender ${id} on session ${sessionId}`,
  processor: (id: string): string => `processor ${id}`,
  store: (role: StoreRole): string => `store ${role}`,
  route: (id: string): string => `route ${id}`,
};

/** Everything that a runtime of this configuration is made of, by {@link partKey}. */
export function* describeParts(config: BridgeConfig): Steps<ReadonlyMap<string, PartDescription>> {
  const parts = new Map<string, PartDescription>();
  for (const role of STORE_ROLES) {
    const block = config.stores[role];
    if (block !== undefined) parts.set(partKey.store(role), { content: block, needs: [] });
  }
  const index = new PartsById(config);
  for (const session of config.sessions) {
    yield;
    const exclusive = session.sessionMode === "exclusive";
    const needs = exclusive ? [partKey.lease(session.id)] : [];
    for (const role of ROLES) {
      if (!index.named[role].has(session.id)) continue;
      // Its times are read whenever they are needed; both halves stand under it, and it outlasts them.
      if (exclusive) parts.set(partKey.lease(session.id), { content: "lease", needs: [partKey.store("lease")] });
      // A source half subscribes for its receivers and opens a window for all of their routes when it connects.
      const fed = role === "source" ? (index.fed.get(session.id) ?? []) : [];
      // In a cluster it bears the name of its instance.
      const named = !exclusive && config.bridge.deploymentMode === "clustered";
      parts.set(partKey.link(session.id, role), { content: { session, fed, named }, needs });
    }
  }
  for (const route of config.routes) {
    yield;
    describeRoute(route, { config, index, parts });
  }
  return parts;
}

interface Describing {
  readonly config: BridgeConfig;
  readonly index: PartsById;
  readonly parts: Map<string, PartDescription>;
}

function describeRoute(route: RouteConfig, { config, index, parts }: Describing): void {
  const needs: string[] = [];
  for (const id of route.processors) {
    const key = partKey.processor(id);
    parts.set(key, { content: index.processors.get(id), needs: [] });
    needs.push(key);
  }
  const receiver = index.receivers.get(route.receiverId);
  if (receiver !== undefined) {
    const key = partKey.receiver(receiver.id);
    const link = receiver.sessionId === undefined ? [] : [partKey.link(receiver.sessionId, "source")];
    parts.set(key, { content: receiver, needs: link });
    needs.push(key);
  }
  const bindings = route.bindings.map((id) => index.bindings.get(id));
  for (const binding of bindings) {
    if (binding === undefined) continue;
    const { senderId, sessionId } = binding;
    const key = partKey.sender(senderId, sessionId);
    const link = sessionId === undefined ? [] : [partKey.link(sessionId, "target")];
    parts.set(key, { content: unlimited(index.senders.get(senderId)), needs: link });
    needs.push(key);
  }
  for (const role of storesOf(route)) if (config.stores[role] !== undefined) needs.push(partKey.store(role));
  parts.set(partKey.route(route.id), { content: { route: unlimited(route), bindings: bindings.map(wayOut) }, needs });
}

/** A limit applies without stopping anything. */
function unlimited(part: { readonly rateLimit?: unknown } | undefined): unknown {
  if (part === undefined) return undefined;
  const { rateLimit: _, ...rest } = part;
  return rest;
}

/** What a route knows of a binding; whether the binding itself names its session is for the naming in errors only. */
function wayOut(binding: BridgeConfig["bindings"][number] | undefined): unknown {
  if (binding === undefined) return undefined;
  const { managed: _, ...rest } = binding;
  return rest;
}

/** The stores that a route may write to or read from. A drain deletes the dead letter that a record redrove. */
function storesOf({ deliveryMode, policy }: RouteConfig): readonly StoreRole[] {
  const outbox = deliveryMode === "shared_outbox";
  const dlq = [policy.onPermanentFailure, policy.onExpired, policy.onFiltered].includes("dlq");
  return [...(outbox ? (["outbox"] as const) : []), ...(dlq || outbox ? (["dlq"] as const) : [])];
}
