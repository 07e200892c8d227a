import { isDeepStrictEqual } from "node:util";
import type { StoredConfig } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import type { ConfigApplier } from "./applier.ts";
import { changesBetween } from "./changes.ts";
import { commitChange } from "./commit-change.ts";
import { type CommitOutcome, type Outcome, tellerOf, type TrialRequest } from "./commit-parts.ts";
import type { CommitResult, CommitTrial } from "./contract.ts";
import { endLeftBehind } from "./left-staged.ts";
import type { Reverted } from "./on-probation.ts";
import type { Transaction } from "./open-transaction.ts";
import type { StagingParts } from "./stage-and-apply.ts";
import type { StoredDocuments } from "./stored-documents.ts";
import { TransactionError } from "./transaction-error.ts";
import { whyNotBeside } from "./why-not-now.ts";
import { wouldStrand } from "./would-strand.ts";

/** Each step is bounded by itself. */
const NEVER = new AbortController().signal;

/** What a commit came to; only one that was begun says more than its result. */
export type PendingOutcome =
  | (Pick<CommitOutcome, "result" | "differs" | "onProbation"> & {
      readonly begun: true;
      /** What was to come into force. */
      readonly config: BridgeConfig;
    })
  | { readonly result: CommitResult; readonly begun: false };

interface PendingParts {
  readonly documents: StoredDocuments;
  readonly parts: Omit<StagingParts, "staging">;
  /** What another instance has left on probation is taken back. */
  readonly onReverted: (reverted: Reverted) => void;
}

/** Brings what is pending into force, unless something is wrong with it: then nothing is written. */
export async function commitPending(
  { base, pending, whole, former, patchCount }: Transaction,
  actor: string,
  asked: CommitTrial | undefined,
  { documents, parts, onReverted }: PendingParts,
): Promise<PendingOutcome> {
  const { clock, applier, history } = parts;
  const { document, text } = pending;
  const [checked, erased] = await documents.judge({ base, whole, pending, former }, NEVER);
  if (erased.length > 0) return untouched({ status: "erases_options", erasedOptions: erased });
  if ((patchCount > 0 || document !== base.document) && !checked.ok)
    return untouched({ status: "invalid", problems: checked.problems });
  const beside = await whyNotBeside(parts.store, clock);
  if (beside !== undefined) return untouched({ status: "conflict", ...beside });
  const stored = await documents.find(NEVER);
  if (stored?.revision !== base.revision) return untouched({ status: "conflict", error: movedSince(base, stored) });
  const isAsStored = text === undefined && isDeepStrictEqual(document, base.document);
  if (!checked.ok || isAsStored) return untouched({ status: "committed", version: base.version });
  const { config } = checked;
  const stranding = await wouldStrand({ base, config }, { ...parts, documents }, NEVER);
  if (stranding !== undefined) return untouched({ status: "stranding", stranding });
  const changes = await documents.slices().run(changesBetween(base.document, document));
  const left = await endLeftBehind(parts.store, parts);
  if (left !== undefined) onReverted(left);
  const version = await history.after(base);
  const entry = { version: version + 1, committedAt: clock.now(), actor, changes };
  const change = {
    base,
    expected: { ...base, version },
    document,
    text,
    config,
    entry,
    trial: asked && (await trialOf(asked, config, applier)),
    tell: tellerOf(checked),
  };
  const outcome = await commitChange(change, parts);
  const { status } = outcome.result;
  if (status === "conflict" || status === "rolled_back" || (status === "committed_not_applied" && !outcome.differs))
    history.withdraw(entry);
  return { ...outcome, begun: true, config };
}

/** @throws TransactionError when nobody could say how a change does, or put the former one back */
export function demandTrial({ store, applier }: Pick<StagingParts, "store" | "applier">): void {
  if (applier?.trial === undefined || (store.staging ?? store.probations) === undefined)
    throw new TransactionError("unsupported", "the configuration is kept where no change can be tried out");
  if (applier.trial.running()) return;
  const why = "the bridge does not run, or is being changed: a change is tried out by one that runs";
  throw new TransactionError("conflict", why, { reason: "not_running" });
}

/** Refused, and the transaction stays open. */
export function isRefusal(result: CommitResult): result is Exclude<CommitResult, Outcome> {
  return ["erases_options", "invalid", "stranding"].includes(result.status);
}

function untouched(result: CommitResult): PendingOutcome {
  return { result, begun: false };
}

async function trialOf(
  { withinMs, guard }: CommitTrial,
  config: BridgeConfig,
  applier: ConfigApplier | undefined,
): Promise<TrialRequest> {
  const plan = await applier?.plan(config, NEVER);
  const { restarted = [], added = [] } = plan?.routes ?? {};
  return { withinMs, guard, routes: [...restarted, ...added] };
}

function movedSince(base: StoredConfig, stored: StoredConfig | undefined): string {
  const now = stored === undefined ? "cannot be read now" : `is version ${stored.version} now`;
  return `the configuration was version ${base.version} when the transaction was opened, and another hand has written since: it ${now}; open a new transaction`;
}
