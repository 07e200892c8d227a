import type {
  Clock,
  ConfigHistoryEntry,
  ConfigStore,
  Logger,
  Probation,
  ProbationGuard,
  StoredConfig,
} from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { CheckedDocument } from "../check-document.ts";
import { withoutUsers } from "../check/hidden-values.ts";
import type { BridgeConfig } from "../model.ts";
import type { ConfigApplier } from "./applier.ts";
import type { CommitHistory } from "./commit-history.ts";
import type { CommitResult } from "./contract.ts";
import type { OnProbation } from "./on-probation.ts";

export interface CommitParts {
  readonly store: ConfigStore;
  readonly history: CommitHistory;
  readonly applier: ConfigApplier | undefined;
  readonly applyTimeoutMs: number;
  readonly check: (document: StoredConfig["document"]) => Promise<CheckedDocument>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A change that is to be tried out. */
export interface TrialRequest {
  readonly withinMs: number;
  readonly guard: ProbationGuard | undefined;
  /** Whose sends count. */
  readonly routes: readonly string[];
}

/** A change that nothing is wrong with. */
export interface SoundChange {
  readonly base: StoredConfig;
  /** `base`, of the version after which the new one is counted. */
  readonly expected: StoredConfig;
  readonly document: StoredConfig["document"];
  /** Changed so that it says the document. Absent: that of what is stored. */
  readonly text: string | undefined;
  readonly config: BridgeConfig;
  /** For the history. */
  readonly entry: ConfigHistoryEntry;
  /** Absent: it is there to stay. */
  readonly trial: TrialRequest | undefined;
  /** What an error says, without what must not be seen. */
  readonly tell: (error: unknown) => string;
}

export type Outcome = Exclude<CommitResult, { readonly status: "erases_options" | "invalid" | "stranding" }>;

export interface CommitOutcome {
  readonly result: Outcome;
  /** Whether this instance runs what is not stored, and nobody mends it; or stores what does not run. */
  readonly differs: boolean;
  /** Of a change that is on probation. */
  readonly onProbation?: OnProbation;
}

/** A change that runs now, for as long as it was asked to be tried out. */
export function onProbation(
  { base, entry, trial }: SoundChange,
  tried: OnProbation["tried"],
  { clock }: Pick<CommitParts, "clock">,
): CommitOutcome {
  const { version } = "stored" in tried ? tried.stored : tried.staged;
  const { withinMs = 0, guard, routes = [] } = trial ?? {};
  const confirmBy = clock.now() + withinMs;
  const probation: Probation = {
    version,
    formerVersion: base.version,
    confirmBy,
    actor: entry.actor,
    ...(guard !== undefined && { guard }),
    routes,
  };
  const result = { status: "probation", version, formerVersion: base.version, confirmBy } as const;
  return { result, differs: false, onProbation: { probation, base, tried, entry } };
}

export const NOT_RUNNING =
  "the bridge was stopped, or was changed by somebody else, meanwhile: a change is tried out by one that runs";

/** How long the store may take for each thing that it is asked. */
const STORE_TIMEOUT_MS = 30_000;

/** Whether it runs already; otherwise it will. Rejects when it does not and will not. */
export async function applied(
  config: BridgeConfig,
  { applier, applyTimeoutMs, clock, logger }: CommitParts,
): Promise<boolean> {
  if (applier === undefined) return true;
  const cap = new AbortController();
  const done = new AbortController();
  const overrun = new Error(`it was not applied within ${applyTimeoutMs / 1_000} s`);
  clock.delay(applyTimeoutMs, done.signal).then(
    () => cap.abort(overrun),
    () => {},
  );
  const applying = applier.apply(config, cap.signal);
  try {
    return (await orAborted(applying, cap.signal)) === "applied";
  } finally {
    done.abort();
    const late = { version: config.configVersion };
    if (cap.signal.aborted)
      applying.then(
        () => logger.error("a configuration was applied after it had been given up", late),
        () => {},
      );
  }
}

/** What a commit came to that could not be applied, and after which `base` is what is stored. */
export function undone({ version }: StoredConfig, error: string, { applier }: Pick<CommitParts, "applier">): Outcome {
  const rest = applier?.beyondRecovery() === true ? "; nothing runs here any more: the next process runs it" : "";
  return { status: "rolled_back", version, error: error + rest };
}

/** What is stored; `undefined` when there is nothing, or it cannot be read. */
export async function load(store: ConfigStore, clock: Clock): Promise<StoredConfig | undefined> {
  return bounded(clock, (signal) => store.load(signal)).catch(() => undefined);
}

export async function bounded<Result>(clock: Clock, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  using limit = deadline(
    clock,
    STORE_TIMEOUT_MS,
    new Error(`the store did not answer in ${STORE_TIMEOUT_MS / 1_000} s`),
  );
  return await orAborted(work(limit.signal), limit.signal);
}

/** Says what an error of the work with a checked document says, as far as it may be seen. */
export function tellerOf(checked: CheckedDocument): SoundChange["tell"] {
  return (error) => {
    const text = error instanceof Error ? error.message : String(error);
    const told = checked.ok ? checked.tellable(text) : withoutUsers(text);
    return told ?? "the error quotes a secret, or a value that came in through a reference";
  };
}

/** Whether what is stored could be run. */
export async function isUsable({ document }: StoredConfig, { check }: CommitParts): Promise<boolean> {
  return check(document).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Brings what is stored into force; tells why that cannot be done. */
export async function applyAgain({ version, document }: StoredConfig, parts: CommitParts): Promise<string | undefined> {
  let checked: CheckedDocument;
  try {
    checked = await parts.check(document);
  } catch {
    return "what it refers to cannot be read";
  }
  if (!checked.ok) return "it is not valid here";
  try {
    await applied({ ...checked.config, configVersion: version }, parts);
    return undefined;
  } catch (error) {
    return tellerOf(checked)(error);
  }
}
