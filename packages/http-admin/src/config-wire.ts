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
import { shownDiff, shownLists, shownParts, shownProblems } from "./config-page.ts";
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
  const { shown: preview, more } = shownParts(inspection.preview, offset);
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
  const { shown: preview, more } = shownParts(whole);
  return {
    txn_id: id,
    preview,
    ...(more !== undefined && { more }),
    ...(problems.length > 0 && { validation_errors: problemsToWire(problems) }),
    ...(warnings.length > 0 && { warnings: problemsToWire(warnings) }),
  };
}

export function dryRunToWire(id: string, run: DryRun): InferOutput<typeof schemas.validated> {
  const { shown, more } = shownLists({
    erased_options: run.erasedOptions.map(formatPath),
    stranded: run.stranding === undefined ? [] : strandedToWire(run.stranding),
  });
  return {
    txn_id: id,
    valid: run.erasedOptions.length === 0 && run.problems.length === 0 && !run.conflict && run.stranding === undefined,
    erased_options: shown.erased_options,
    validation_errors: problemsToWire(run.problems),
    conflict: run.conflict,
    ...(run.stranding !== undefined && { stranded: shown.stranded }),
    ...(more !== undefined && { more }),
    warnings: problemsToWire(run.warnings),
    changes: [...run.changes],
    ...(run.plan !== undefined && { plan: planToWire(run.plan) }),
  };
}

export function diffToWire(
  { version, text, changes, plan, warnings }: Difference,
  offset: number,
): InferOutput<typeof schemas.configDiff> {
  return {
    version,
    ...(text !== undefined && shownDiff(text)),
    changes: [...changes],
    ...(plan !== undefined && { plan: planToWire(plan, offset) }),
    warnings: problemsToWire(warnings),
  };
}

function planToWire(plan: ChangePlan, offset = 0): NonNullable<InferOutput<typeof schemas.validated>["plan"]> {
  const { routes, sessions, stores, inPlace, restartRequired } = plan;
  const { shown, more } = shownLists(
    {
      ...partsUnder("routes", routes),
      ...partsUnder("sessions", sessions),
      stores: [...stores],
      in_place: [...inPlace],
      restart_required: [...restartRequired],
    },
    offset,
  );
  return {
    unchanged: plan.unchanged,
    routes: partsFrom("routes", shown),
    sessions: partsFrom("sessions", shown),
    stores: shown.stores,
    in_place: shown.in_place,
    restart_required: shown.restart_required,
    ...(more !== undefined && { more }),
  };
}

type Parts = ChangePlan["routes"];
type PartsUnder<Name extends string> = Record<`${Name}.${keyof Parts}`, string[]>;

function partsUnder<Name extends string>(name: Name, { added, removed, restarted, kept }: Parts): PartsUnder<Name> {
  return {
    [`${name}.added`]: [...added],
    [`${name}.removed`]: [...removed],
    [`${name}.restarted`]: [...restarted],
    [`${name}.kept`]: [...kept],
  } as PartsUnder<Name>;
}

function partsFrom<Name extends string>(name: Name, shown: PartsUnder<Name>): Record<keyof Parts, string[]> {
  return {
    added: shown[`${name}.added`],
    removed: shown[`${name}.removed`],
    restarted: shown[`${name}.restarted`],
    kept: shown[`${name}.kept`],
  };
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
