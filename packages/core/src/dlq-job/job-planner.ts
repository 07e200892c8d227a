import { hash } from "node:crypto";
import type { DeadLetterHead, DeadLetterQuery } from "@bridge/ports";
import { OperationError } from "../operation-error.ts";
import { Explainer } from "../route/explain.ts";
import type { Job, JobKind, JobLane, JobSettings } from "./job.ts";
import { failedAhead } from "./clock-skew.ts";
import { estimatedMs } from "./estimated-ms.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";
import type { JobPlan, Prediction } from "./job-plan.ts";
import { mayBeRoute, withoutOddRoutes } from "./odd-routes.ts";
import { isPlanned } from "./planned-entry.ts";
import { predict, type Predictions, shownEntry, spread } from "./predict.ts";
import { countSet, type SetCount } from "./set-count.ts";
import { SAMPLE_SIZE, sampleOf } from "./set-sample.ts";
import { setQuery, withHeldBack } from "./set-query.ts";

/** What a job is to be. */
export interface JobDraft {
  readonly kind: JobKind;
  readonly query: DeadLetterQuery;
  readonly reason: string;
  readonly actor: string;
  readonly limit?: number | undefined;
  readonly bindingId?: string | undefined;
  /** Of a purge, in milliseconds. */
  readonly undoWithinMs?: number | undefined;
  readonly settings: JobSettings;
}

/** Routes whose entries one redrive may have. */
const MAX_LANES = 64;
/** The prediction ends by then, with what has been examined. */
const PREDICT_MS = 10_000;
const SHOWN = 10;

/**
 * A job with its plan: counted, sampled and predicted. It changes nothing, opens nothing and sends nothing.
 * @throws OperationError `conflict` when it has more routes than a job can have
 */
export async function planJob(
  parts: JobParts,
  { store, draft, id }: { readonly store: JobsStore; readonly draft: JobDraft; readonly id: string },
  signal: AbortSignal,
): Promise<Job> {
  const { clock, config } = parts;
  const createdAt = clock.now();
  const { kind, query, actor, reason, limit, bindingId, undoWithinMs, settings } = draft;
  const set = setQuery({ kind, query, createdAt });
  const loose = withHeldBack({ query, createdAt });
  const counted = await countSet({ store, query: set, loose, limit, clock }, signal);
  const { count, warning: odd } = withoutOddRoutes(kind, counted);
  const lanes = lanesOf(parts, draft, count);
  const sampled = count.total === 0 ? [] : await sampleOf(store, set, count, clock, signal);
  const heads = kind === "redrive" ? sampled.filter(mayBeRoute) : sampled;
  const { predicted, sample, lost } =
    kind === "redrive"
      ? await predicting(parts, { store, asks: { kind, query, createdAt }, heads, bindingId }, signal)
      : { predicted: undefined, sample: spread(heads, SHOWN).map(shownEntry), lost: 0 };
  const changed = sampled.filter((head) => !isPlanned(head, { id, kind, query, createdAt })).length;
  const ahead = await failedAhead({ store, query, clock, missing: "plan" }, signal);
  const { until } = count;
  const { configVersion } = config();
  const identity = [kind, query, createdAt, until ?? null, bindingId ?? null, undoWithinMs ?? null, configVersion];
  const plan: JobPlan = {
    hash: hash("sha256", JSON.stringify(identity), "hex"),
    total: count.total,
    exact: count.exact,
    seen: count.seen,
    estimatedBytes: Math.round(meanBytes(heads) * count.total),
    oldestFailedAt: count.oldestFailedAt,
    newestFailedAt: count.newestFailedAt,
    estimatedMs: estimatedMs(kind, settings, count.total),
    configVersion,
    lanes: lanes.map(({ routeId, total }) => {
      const standing = kind === "purge" ? undefined : parts.standing(routeId);
      return { routeId, count: total, ...(standing?.kind === "waits" && { why: standing.why }) };
    }),
    predicted,
    sample,
    warnings: [
      ...(count.exact || until !== undefined ? [] : [inexact(count)]),
      ...warningsOf(draft, heads, predicted, store),
      ...(lost === 0
        ? []
        : [`${lost} of ${heads.length} looked at are listed, and not found by their ids: a redrive passes over them`]),
      ...(changed === 0
        ? []
        : [
            `${changed} of ${sampled.length} looked at were marked later than the clock of this instance says, and the job leaves them out: check the clocks, then quarantine and assign them anew`,
          ]),
      ...[odd, ahead].filter((warning) => warning !== undefined),
    ],
  };
  return {
    id,
    kind,
    state: "planned",
    actor,
    reason,
    createdAt,
    query,
    limit,
    until,
    bindingId,
    undoWithinMs,
    settings,
    plan,
    updatedAt: createdAt,
    attempt: 1,
    total: count.total,
    counts: { succeeded: 0, failed: 0, skipped: 0, inDoubt: 0, restored: 0 },
    pending: [],
    ahead: [],
    inFlight: 0,
    mostInFlight: 0,
    pace: 0,
    step: { index: 0, done: 0, failed: 0 },
    lanes,
    errors: [],
  };
}

function inexact({ total, seen = total }: SetCount): string {
  return total === seen
    ? `${total} were counted in time: there may be more, which are taken, too`
    : `${seen} were looked at in time; ${total} match by the count of the store, with those that are quarantined, which are left out`;
}

/** A lane for each route that entries were seen of; when not all were seen, for each that is configured, too. */
function lanesOf({ config }: JobParts, { kind, query }: JobDraft, { byRoute, exact }: SetCount): readonly JobLane[] {
  const routeIds = new Set(byRoute.keys());
  if (query.routeId !== undefined) routeIds.add(query.routeId);
  else if (!exact) for (const { id } of config().routes) routeIds.add(id);
  const lanes = [...routeIds].map((routeId) => ({
    routeId,
    total: byRoute.get(routeId) ?? 0,
    done: 0,
    failed: 0,
    ended: false,
  }));
  if (lanes.length <= MAX_LANES) return lanes;
  // A purge goes through all of them in one row; these are shown.
  if (kind === "purge") return lanes.toSorted((a, b) => b.total - a.total).slice(0, MAX_LANES);
  throw new OperationError(
    "conflict",
    `the filter may match entries of ${lanes.length} routes, and a job takes ${MAX_LANES}: name a route`,
  );
}

async function predicting(
  parts: JobParts,
  of: Pick<Parameters<typeof predict>[0], "store" | "asks" | "heads" | "bindingId">,
  signal: AbortSignal,
): Promise<Predictions> {
  const { clock } = parts;
  const until = clock.monotonic() + PREDICT_MS;
  await using explainer = await Explainer.of({ ...parts, config: parts.config() }, signal);
  return await predict({ ...of, explainer, until, clock }, signal);
}

function meanBytes(heads: readonly DeadLetterHead[]): number {
  return heads.length === 0 ? 0 : heads.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0) / heads.length;
}

function warningsOf(
  { kind, undoWithinMs }: JobDraft,
  heads: readonly DeadLetterHead[],
  predicted: Prediction | undefined,
  { admin }: JobsStore,
): readonly string[] {
  const warnings: string[] = [];
  if (predicted !== undefined) {
    const { examined, expired, filtered, no_route: noRoute, orderingKeys } = predicted;
    const of = `of ${examined} examined`;
    if (expired > 0) warnings.push(`${expired} ${of} have expired: they will fail as expired`);
    if (filtered > 0) warnings.push(`${filtered} ${of} are filtered out by a processor: they will fail as filtered`);
    if (noRoute > 0) warnings.push(`${noRoute} ${of} have no route or binding: they will fail`);
    if (orderingKeys > 0)
      warnings.push(
        `messages of ${orderingKeys} ordering keys among ${examined} examined come behind those delivered since they failed`,
      );
  }
  if (kind === "purge") {
    const heldBack = heads.filter(({ marks }) => marks?.quarantined === true).length;
    const looked = heads.length < SAMPLE_SIZE ? "" : ` of ${heads.length} examined`;
    if (heldBack > 0) warnings.push(`${heldBack}${looked} are quarantined, and are purged all the same`);
    if ((undoWithinMs ?? 0) > 0 && admin.trash !== undefined)
      warnings.push("what can be taken back takes room until then: a full disk is emptied with undo_within 0s");
  }
  return warnings;
}
