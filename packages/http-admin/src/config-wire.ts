/**
 * Between the words of configuration transactions and those of the interface. @module
 */
import {
  type ChangePlan,
  type CommitTrial,
  type Difference,
  type DryRun,
  formatPath,
  type Inspection,
  type KnownCommit,
  type Patched,
  type Problem,
  type Stranding,
  type TransactionInfo,
} from "@bridge/config";
import type { Probation } from "@bridge/ports";
import { formatTimestamp } from "@bridge/ports/internal";
import type { InferOutput } from "valibot";
import { shownDiff, shownParts, shownProblems } from "./config-page.ts";
import type * as schemas from "./config-schemas.ts";

export function transactionToWire({ id, version, createdAt, expiresAt }: TransactionInfo): {
  txn_id: string;
  version: number;
  created_at: string;
  expires_at: string;
} {
  return { txn_id: id, version, created_at: formatTimestamp(createdAt), expires_at: formatTimestamp(expiresAt) };
}

export function inspectionToWire(inspection: Inspection, offset: number): InferOutput<typeof schemas.inspected> {
  const { config: preview, more } = shownParts(inspection.preview, offset);
  return {
    ...transactionToWire(inspection),
    patch_count: inspection.patchCount,
    preview,
    ...(more !== undefined && { more }),
  };
}

export function patchedToWire(
  id: string,
  { preview: whole, problems, warnings }: Patched,
): InferOutput<typeof schemas.patched> {
  const { config: preview, more } = shownParts(whole);
  return {
    txn_id: id,
    preview,
    ...(more !== undefined && { more }),
    ...(problems.length > 0 && { validation_errors: problemsToWire(problems) }),
    ...(warnings.length > 0 && { warnings: problemsToWire(warnings) }),
  };
}

export function dryRunToWire(id: string, run: DryRun): InferOutput<typeof schemas.validated> {
  return {
    txn_id: id,
    valid: run.erasedOptions.length === 0 && run.problems.length === 0 && !run.conflict && run.stranding === undefined,
    erased_options: run.erasedOptions.map(formatPath),
    validation_errors: problemsToWire(run.problems),
    conflict: run.conflict,
    ...(run.stranding !== undefined && { stranded: strandedToWire(run.stranding) }),
    warnings: problemsToWire(run.warnings),
    changes: [...run.changes],
    ...(run.plan !== undefined && { plan: planToWire(run.plan) }),
  };
}

export function diffToWire({
  version,
  text,
  changes,
  plan,
  warnings,
}: Difference): InferOutput<typeof schemas.configDiff> {
  return {
    version,
    ...(text !== undefined && shownDiff(text)),
    changes: [...changes],
    ...(plan !== undefined && { plan: planToWire(plan) }),
    warnings: problemsToWire(warnings),
  };
}

function planToWire(plan: ChangePlan): NonNullable<InferOutput<typeof schemas.validated>["plan"]> {
  return {
    unchanged: plan.unchanged,
    routes: partsToWire(plan.routes),
    sessions: partsToWire(plan.sessions),
    stores: [...plan.stores],
    in_place: [...plan.inPlace],
    restart_required: [...plan.restartRequired],
  };
}

function partsToWire({
  added,
  removed,
  restarted,
  kept,
}: ChangePlan["routes"]): Record<keyof ChangePlan["routes"], string[]> {
  return { added: [...added], removed: [...removed], restarted: [...restarted], kept: [...kept] };
}

export function strandedToWire({ stranded }: Stranding): InferOutput<typeof schemas.stranded>[] {
  return stranded.map(({ store, routeId, bindingId, waiting, capped }) => ({
    store,
    ...(routeId !== undefined && { route_id: routeId }),
    ...(bindingId !== undefined && { binding_id: bindingId }),
    ...(waiting !== undefined && { waiting }),
    ...(capped && { waiting_capped: capped }),
  }));
}

export function problemsToWire(problems: readonly Problem[]): { path: string; message: string }[] {
  return shownProblems(problems).map(({ path, message }) => ({ path: formatPath(path), message }));
}

export function probationToWire({
  version,
  formerVersion,
  confirmBy,
  guard,
}: Probation): InferOutput<typeof schemas.probation> {
  const { level, levelForMs, failureRatio, minSends } = guard ?? {};
  return {
    version,
    former_version: formerVersion,
    confirm_by: formatTimestamp(confirmBy),
    ...(guard !== undefined && {
      guard: {
        ...(level !== undefined && { level }),
        ...(levelForMs !== undefined && { level_for_ms: levelForMs }),
        ...(failureRatio !== undefined && { failure_ratio: failureRatio }),
        ...(minSends !== undefined && { min_sends: minSends }),
      },
    }),
  };
}

/** How a commit is to be tried out; `undefined` when it is there to stay. */
export function trialOf({
  confirm_within: withinMs,
  guard,
}: InferOutput<typeof schemas.commitBody>): CommitTrial | undefined {
  if (withinMs === undefined) return undefined;
  if (guard === undefined) return { withinMs };
  const { level, level_for: levelForMs, failure_ratio: failureRatio, min_sends: minSends } = guard;
  return {
    withinMs,
    guard: {
      ...(level !== undefined && { level }),
      ...(levelForMs !== undefined && { levelForMs }),
      ...(failureRatio !== undefined && { failureRatio }),
      ...(minSends !== undefined && { minSends }),
    },
  };
}

export function historyToWire(entry: KnownCommit): InferOutput<typeof schemas.configHistory>["versions"][number] {
  const { version, committedAt, actor, changes, available, pending, reverted } = entry;
  return {
    version,
    committed_at: formatTimestamp(committedAt),
    actor,
    changes: [...changes],
    available,
    ...(pending !== undefined && { pending }),
    ...(reverted !== undefined && { reverted: { ...reverted, at: formatTimestamp(reverted.at) } }),
  };
}
