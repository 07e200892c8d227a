import { isDeepStrictEqual } from "node:util";
import type { BridgeConfig, ChangePlan, PartsPlan } from "@bridge/config";
import type { Steps } from "@bridge/ports/internal";
import { describeParts, type PartDescription, partKey, ROLES, STORE_ROLES } from "./part-graph.ts";

/** What the host has made of the document once, when the process started. */
const AT_START = ["http", "audit", "telemetry", "bridge.id", "bridge.instance_id"] as const;

/** What a change of configuration comes to. */
export interface Change {
  readonly plan: ChangePlan;
  /** The parts that keep running, by `partKey`. */
  readonly kept: ReadonlySet<string>;
  /** Whether any part stops or starts. */
  readonly swaps: boolean;
}

/**
 * What has to stop and start, to get from one configuration to another: a pure function, so that a dry run tells what
 * will happen. `startedWith` is the configuration that the process was started with.
 */
export function* compare(from: BridgeConfig, to: BridgeConfig, startedWith: BridgeConfig): Steps<Change> {
  const [before, after] = [yield* describeParts(from), yield* describeParts(to)];
  const kept = yield* keptParts(before, after);
  const swaps = kept.size < before.size || kept.size < after.size;
  const restartRequired = pendingRestart(to, startedWith);
  const inPlace = inPlaceChanges(from, to);
  const plan: ChangePlan = {
    unchanged: !swaps && inPlace.length === 0 && sameAtStart(from, to) && (yield* sameRest(from, to)),
    routes: partsPlan(ids(from.routes), ids(to.routes), (id) => kept.has(partKey.route(id))),
    sessions: partsPlan(connected(before, from), connected(after, to), (id) =>
      ROLES.every((role) => !before.has(partKey.link(id, role)) || kept.has(partKey.link(id, role))),
    ),
    stores: STORE_ROLES.filter((role) => before.has(partKey.store(role)) && !kept.has(partKey.store(role))),
    inPlace,
    restartRequired,
  };
  return { plan, kept, swaps };
}

/** The parts of the document that are stored, and in force only after a restart of the process. */
export function pendingRestart(config: BridgeConfig, startedWith: BridgeConfig): readonly string[] {
  const [wanted, actual] = [atStart(config), atStart(startedWith)];
  return AT_START.filter((part) => !isDeepStrictEqual(wanted[part], actual[part]));
}

/** What is described alike in both and needs nothing that is not. */
function* keptParts(
  before: ReadonlyMap<string, PartDescription>,
  after: ReadonlyMap<string, PartDescription>,
): Steps<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (const [key, part] of after) {
    yield;
    if (isDeepStrictEqual(part, before.get(key))) kept.add(key);
  }
  for (let size = -1; size !== kept.size;) {
    size = kept.size;
    for (const key of kept) {
      yield;
      if (after.get(key)?.needs.some((need) => !kept.has(need)) === true) kept.delete(key);
    }
  }
  return kept;
}

function atStart(config: BridgeConfig): Readonly<Record<(typeof AT_START)[number], unknown>> {
  return {
    http: config.http && { ...config.http, apiKeys: undefined },
    audit: config.audit,
    telemetry: config.telemetry,
    "bridge.id": config.bridge.id,
    "bridge.instance_id": config.bridge.instanceId,
  };
}

function sameAtStart(from: BridgeConfig, to: BridgeConfig): boolean {
  return pendingRestart(from, to).length === 0;
}

/** Parts that nothing uses are no parts of a runtime, yet a document with them says something else. */
function* sameRest(from: BridgeConfig, to: BridgeConfig): Steps<boolean> {
  for (const kind of ["sessions", "receivers", "senders", "bindings", "processors"] as const) {
    const [before, after] = [byId(from[kind]), byId(to[kind])];
    if (before.size !== after.size) return false;
    for (const [id, part] of after) {
      yield;
      if (!isDeepStrictEqual(part, before.get(id))) return false;
    }
  }
  return true;
}

/** The keys of the `bridge` block that are read whenever they are needed. */
const IN_PLACE: readonly (readonly [key: string, field: Exclude<keyof BridgeConfig["bridge"], "id" | "instanceId">])[] =
  [
    ["bridge.deployment_mode", "deploymentMode"],
    ["bridge.drain_timeout", "drainTimeoutMs"],
    ["bridge.lease_poll_interval", "leasePollIntervalMs"],
    ["bridge.lease_ttl", "leaseTtlMs"],
    ["bridge.log_level", "logLevel"],
    ["bridge.max_drain_timeout", "maxDrainTimeoutMs"],
    ["bridge.per_record_drain_timeout", "perRecordDrainTimeoutMs"],
    ["bridge.quiesce_timeout", "quiesceTimeoutMs"],
    ["bridge.recent_legs", "recentLegs"],
    ["bridge.shutdown_timeout", "shutdownTimeoutMs"],
    ["bridge.terminal_linger", "terminalLingerMs"],
  ];

function inPlaceChanges(from: BridgeConfig, to: BridgeConfig): readonly string[] {
  return [
    ...(isDeepStrictEqual(from.configWatch, to.configWatch) ? [] : ["config_watch"]),
    ...(isDeepStrictEqual(from.http?.apiKeys ?? [], to.http?.apiKeys ?? []) ? [] : ["http.api_keys"]),
    ...IN_PLACE.filter(([, field]) => from.bridge[field] !== to.bridge[field]).map(([key]) => key),
    ...changedLimits("routes", from, to),
    ...changedLimits("senders", from, to),
  ];
}

function changedLimits(kind: "routes" | "senders", from: BridgeConfig, to: BridgeConfig): readonly string[] {
  const before = new Map(from[kind].map((part) => [part.id, part]));
  return to[kind]
    .filter(({ id, rateLimit }) => before.has(id) && !isDeepStrictEqual(before.get(id)?.rateLimit, rateLimit))
    .map(({ id }) => `${kind}.${id}.rate_limit`)
    .toSorted();
}

function partsPlan(before: readonly string[], after: readonly string[], kept: (id: string) => boolean): PartsPlan {
  const [had, has] = [new Set(before), new Set(after)];
  const both = before.filter((id) => has.has(id));
  return {
    added: after.filter((id) => !had.has(id)).toSorted(),
    removed: before.filter((id) => !has.has(id)).toSorted(),
    restarted: both.filter((id) => !kept(id)).toSorted(),
    kept: both.filter(kept).toSorted(),
  };
}

/** A session that nothing names is not connected, so there is nothing to stop or start. */
function connected(parts: ReadonlyMap<string, PartDescription>, { sessions }: BridgeConfig): readonly string[] {
  return ids(sessions).filter((id) => ROLES.some((role) => parts.has(partKey.link(id, role))));
}

function ids(parts: readonly { readonly id: string }[]): readonly string[] {
  return parts.map(({ id }) => id);
}

function byId(parts: readonly { readonly id: string }[]): ReadonlyMap<string, unknown> {
  return new Map(parts.map((part) => [part.id, part]));
}
