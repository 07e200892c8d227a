import { showable } from "@bridge/http-kit";
import type { DeadLetterHead, FacetGroup, FacetHistogram, FacetKey, Facets } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import * as v from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import type { BridgeAccess } from "./bridge-access.ts";
import { FILTER_QUERY, queryFromWire } from "./dlq-filter.ts";
import { DLQ_PART_REFUSALS } from "./dlq-refusals.ts";
import { LIMITS } from "./limits.ts";
import { entryGroups } from "./schemas.ts";
import { queryInteger } from "./values.ts";

const KEYS = {
  route_id: "routeId",
  binding_id: "bindingId",
  category: "category",
  error_code: "errorCode",
  fingerprint: "fingerprint",
  assignee: "assignee",
} as const satisfies Readonly<Record<string, FacetKey>>;

type WireKey = keyof typeof KEYS;

const ONE = Object.keys(KEYS).join("|");
const BY_MESSAGE = `expected one or two of ${Object.keys(KEYS).join(", ")}, separated by a comma`;

const groupsQuery = v.object({
  ...FILTER_QUERY,
  by: v.optional(
    v.pipe(
      v.string(),
      v.description("What entries are grouped by: one or two, separated by a comma."),
      showable(),
      v.regex(new RegExp(`^(?:${ONE})(?:,(?:${ONE}))?$`), BY_MESSAGE),
      v.transform((by) => [...new Set(by.split(","))] as WireKey[]),
    ),
    "route_id,error_code",
  ),
  buckets: v.optional(
    queryInteger("Steps of the histogram over the time of failure; 0: none.", 0, LIMITS.buckets),
    "0",
  ),
});

/** Dead letters in groups, also while the bridge is stopped. */
export function dlqGroupsEndpoint(bridge: BridgeAccess): AdminEndpoint {
  return endpoint({
    method: "GET",
    path: "/api/v1/admin/dlq/summary",
    access: "admin",
    audit: "dlq.facets",
    summary: "How many entries there are, by groups and over time.",
    guard: () => void bridge.dlqFacets,
    query: groupsQuery,
    refusals: DLQ_PART_REFUSALS,
    answers: { 200: { description: "The largest groups.", schema: entryGroups } },
  }).handle(async ({ query: { by, buckets, ...filter } }) => {
    const request = {
      query: queryFromWire(filter),
      by: by.map((name) => KEYS[name]),
      maxGroups: LIMITS.groups,
      buckets,
    };
    const facets = await bridge.looking("DLQ", (signal) => bridge.dlqFacets.facets(request, signal));
    return { status: 200, body: groupsToWire(facets, by, bridge.clock.now()) };
  });
}

function groupsToWire(facets: Facets, by: readonly WireKey[], now: number): v.InferOutput<typeof entryGroups> {
  const { total, exact, counted, asOf, oldestFailedAt, newestFailedAt, groups, moreGroups, histogram } = facets;
  return {
    total,
    exact,
    counted,
    as_of: formatTimestamp(asOf ?? now),
    ...(oldestFailedAt !== undefined && { oldest_failed_at: formatTimestamp(oldestFailedAt) }),
    ...(newestFailedAt !== undefined && { newest_failed_at: formatTimestamp(newestFailedAt) }),
    groups: groups.map((group) => groupToWire(group, by)),
    more_groups: moreGroups,
    ...(histogram !== undefined && { histogram: histogramToWire(histogram) }),
  };
}

type GroupOnWire = v.InferOutput<typeof entryGroups>["groups"][number];

function groupToWire(
  { key, count, oldestFailedAt, newestFailedAt, sample }: FacetGroup,
  by: readonly WireKey[],
): GroupOnWire {
  return {
    key: Object.fromEntries(by.map((name) => [name, key[KEYS[name]] ?? ""])),
    count,
    oldest_failed_at: formatTimestamp(oldestFailedAt),
    newest_failed_at: formatTimestamp(newestFailedAt),
    ...(sample !== undefined && { sample: sampleToWire(sample) }),
  };
}

function sampleToWire(head: DeadLetterHead): NonNullable<GroupOnWire["sample"]> {
  return {
    id: head.id,
    route_id: head.routeId,
    binding_id: head.bindingId,
    error_code: head.errorCode,
    last_error: head.lastError,
  };
}

function histogramToWire({ from, stepMs, counts }: FacetHistogram) {
  return { from: formatTimestamp(from), step_ms: stepMs, counts: [...counts] };
}
