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
import type { StoresOf } from "./named-stores.ts";
import type { OnProbation } from "./on-probation.ts";

export interface CommitParts {
  readonly store: ConfigStore;
  readonly history: CommitHistory;
  readonly applier: ConfigApplier | undefined;
  readonly applyTimeoutMs: number;
  /** What is stored has come into force otherwise than by being committed. */
  readonly onStoredRuns: (config: BridgeConfig) => void;
  readonly storesOf: StoresOf;
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

/** What is written down of a change that is to be tried out, before it is brought into force; its time begins then. */
export function probationOf(
  { base, expected, entry }: SoundChange,
  { withinMs, guard, routes }: TrialRequest,
  now: number,
): Probation & { readonly withinMs: number } {
  return {
    version: expected.version + 1,
    formerVersion: base.version,
    confirmBy: now + withinMs,
    withinMs,
    actor: entry.actor,
    ...(guard !== undefined && { guard }),
    routes,
  };
}

/**
 * A change that runs now. Others were told the same end, unless bringing it into force has taken more than half of its
 * time.
 */
export function onProbation(
  { base, entry }: SoundChange,
  tried: OnProbation["tried"],
  written: ReturnType<typeof probationOf>,
  { clock }: Pick<CommitParts, "clock">,
): CommitOutcome {
  const confirmBy = Math.max(written.confirmBy, clock.now() + written.withinMs / 2);
  const { version, formerVersion } = written;
  const result = { status: "probation", version, formerVersion, confirmBy } as const;
  return { result, differs: false, onProbation: { probation: { ...written, confirmBy }, base, tried, entry } };
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
export async function applyAgain(stored: StoredConfig, parts: CommitParts): Promise<string | undefined> {
  let checked: CheckedDocument;
  try {
    checked = await parts.check(stored.document);
  } catch {
    return "what it refers to cannot be read";
  }
  if (!checked.ok) return "it is not valid here";
  try {
    const config = { ...checked.config, configVersion: stored.version, stored };
    await applied(config, parts);
    parts.onStoredRuns(config);
    return undefined;
  } catch (error) {
    return tellerOf(checked)(error);
  }
}
