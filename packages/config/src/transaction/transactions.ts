import { isDeepStrictEqual } from "node:util";
import {
  type Clock,
  type ConfigStore,
  type Logger,
  type Probation,
  type Random,
  type StoredConfig,
} from "@bridge/ports";
import { formatTimestamp, jsonInSlices, Slices, steadyLogger } from "@bridge/ports/internal";
import { type CheckedDocument, checkDocument } from "../check-document.ts";
import type { BridgeConfig } from "../model.ts";
import type { Path, Problem } from "../problem.ts";
import { type ReferenceSources, resolveReferences } from "../references.ts";
import type { Registry } from "../registry.ts";
import type { ConfigApplier } from "./applier.ts";
import { changesBetween } from "./changes.ts";
import { commitChange } from "./commit-change.ts";
import { asKnown, CommitHistory } from "./commit-history.ts";
import { applyAgain, type Outcome, tellerOf, type TrialRequest } from "./commit-parts.ts";
import type {
  CommitResult,
  CommitTrial,
  ConfigTransactions,
  ConfigView,
  Difference,
  DryRun,
  Inspection,
  KnownCommit,
  NotApplied,
  Patched,
  ShownText,
  TransactionInfo,
} from "./contract.ts";
import { DocumentTexts, type Written } from "./document-texts.ts";
import { erasedOptions } from "./erased-options.ts";
import { mergeOverlay } from "./merge-overlay.ts";
import type { SettledProbation } from "./left-probation.ts";
import { newReferences } from "./new-references.ts";
import { OverlayError } from "./overlay-error.ts";
import { Probations } from "./probations.ts";
import type { Revert, Reverted } from "./on-probation.ts";
import { readWithin } from "./read-within.ts";
import { redactedView } from "./redacted-view.ts";
import type { StagingParts } from "./stage-and-apply.ts";
import { TransactionError } from "./transaction-error.ts";
import {
  nextState,
  TRANSACTION_OUTCOMES,
  type TransactionEvent,
  type TransactionOutcome,
  type TransactionState,
} from "./transaction-state.ts";
import { whyNotNow } from "./why-not-now.ts";

export interface ConfigTransactionsOptions {
  readonly store: ConfigStore;
  readonly registry: Registry;
  /** Where the values of the document's references come from. */
  readonly sources: ReferenceSources;
  /** Absent: a commit only writes. */
  readonly applier?: ConfigApplier | undefined;
  /** Spec 4.9.5. Default 60 s. */
  readonly applyTimeoutMs?: number | undefined;
  /** What the start has found of a probation. Default: nothing. */
  readonly settled?: SettledProbation | undefined;
  /** Told of each change that was taken back. Default: nobody is. */
  readonly onReverted?: ((reverted: Reverted) => void) | undefined;
  /** Names this instance to others that follow the same store. Default: something random. */
  readonly instanceId?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const APPLY_TIMEOUT_MS = 60_000;
const NEVER = new AbortController().signal;
/** A configuration that patches have made larger than this is refused: as a file it must stay one that can be loaded. */
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

export function createConfigTransactions(options: ConfigTransactionsOptions): ConfigTransactions {
  return new Transactions(options);
}

interface Transaction extends TransactionInfo {
  readonly base: StoredConfig;
  /** On the clock that never jumps. */
  readonly expiresAtMonotonic: number;
  state: TransactionState;
  /** As people would write it, with the text that says it if one was sent. */
  pending: Written;
  /** What was pending when it was put there as a whole: options that it has not are not erased by a change. */
  whole: StoredConfig["document"];
  /** What it began with, if that was not what is stored. */
  readonly former: StoredConfig | undefined;
  patchCount: number;
}

class Transactions implements ConfigTransactions {
  readonly #options: ConfigTransactionsOptions;
  readonly #history: CommitHistory;
  readonly #texts: DocumentTexts;
  readonly #probations: Probations;
  #transaction: Transaction | undefined;
  #notApplied: NotApplied | undefined;
  readonly #instanceId: string;
  #underWay: Promise<unknown> | undefined;
  #seen: { readonly document: StoredConfig["document"]; readonly view: ConfigView } | undefined;
  readonly #outcomes = new Map<TransactionEvent, number>();

  constructor(options: ConfigTransactionsOptions) {
    const logger = steadyLogger(options.logger);
    this.#options = { ...options, logger };
    this.#instanceId = options.instanceId ?? options.random.id();
    this.#texts = new DocumentTexts(options);
    this.#history = new CommitHistory(options.store, options.clock, logger);
    this.#probations = new Probations({
      ...options,
      applier: options.applier,
      logger,
      history: this.#history,
      applyAgain: (stored) => applyAgain(stored, this.#parts()),
      exclusively: (work) => this.#alone(work),
      onReverted: (reverted) => options.onReverted?.(reverted),
    });
    if (options.settled !== undefined) this.#settle(options.settled);
  }

  async current(signal: AbortSignal): Promise<{ version: number; config: ConfigView }> {
    const { version, document } = await this.#load(signal);
    return { version, config: await this.#view(document) };
  }

  async document(signal: AbortSignal): Promise<ShownText> {
    const stored = await this.#load(signal);
    return this.#within(signal, (bound) => this.#texts.show(stored, bound));
  }

  async open(
    ttlMs: number,
    signal: AbortSignal,
    fromVersion?: number,
  ): Promise<TransactionInfo & { config: ConfigView }> {
    this.#refuseSecond();
    const base = await this.#load(signal);
    const { clock, random, store, sources } = this.#options;
    const refusal = await readWithin(clock, signal, (bound) => whyNotNow(base, { store, sources, clock }, bound));
    if (refusal !== undefined) {
      const isOnProbation = store.staging?.seen?.until !== undefined;
      throw new TransactionError("conflict", refusal, isOnProbation ? { reason: "probation" } : {});
    }
    const former = fromVersion === undefined ? undefined : await this.#former(fromVersion, base, signal);
    this.#refuseSecond();
    const createdAt = clock.now();
    const info = { id: random.id(), version: base.version, createdAt, expiresAt: createdAt + ttlMs };
    const expiresAtMonotonic = clock.monotonic() + ttlMs;
    const pending = former?.pending ?? { document: base.document, text: undefined };
    this.#transaction = {
      ...info,
      base,
      expiresAtMonotonic,
      state: { kind: "open" },
      pending,
      whole: pending.document,
      former: former?.stored,
      patchCount: 0,
    };
    return { ...info, config: await this.#view(pending.document) };
  }

  has(id: string): boolean {
    return this.#live()?.id === id;
  }

  async inspect(id: string): Promise<Inspection> {
    const { version, createdAt, expiresAt, patchCount, pending } = this.#find(id);
    return { id, version, createdAt, expiresAt, patchCount, preview: await this.#view(pending.document) };
  }

  async patch(id: string, overlay: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Patched> {
    return this.#change(id, signal, async ({ pending: { document, text } }) => {
      return { pending: { document: await this.#slices().run(mergeOverlay(document, overlay), signal), text } };
    });
  }

  async replace(id: string, text: string, signal: AbortSignal): Promise<Patched> {
    return this.#change(id, signal, async ({ base }) => {
      const pending = await this.#within(signal, (bound) => this.#texts.read(text, base, bound));
      return { pending, whole: pending.document };
    });
  }

  async #change(id: string, signal: AbortSignal, change: Change): Promise<Patched> {
    const transaction = this.#find(id);
    this.#move(transaction, "patch");
    const changed = await this.#changed(transaction, signal, change);
    const { document } = changed;
    const [checked, erased] = await this.#check(transaction.whole, document, signal);
    const refused = erased.map((path) => ({ path, message: "would be erased: the commit will be refused" }));
    return {
      preview: await this.#view(document),
      problems: checked.ok ? [] : checked.problems,
      warnings: [...refused, ...checked.warnings],
    };
  }

  /** Makes a change of what is pending by then. */
  async #changed(transaction: Transaction, signal: AbortSignal, change: Change): Promise<Written> {
    const { id, base, pending: before, former } = transaction;
    const { pending, whole } = await change(transaction);
    const { document } = pending;
    const slices = this.#slices();
    const references = await slices.run(newReferences(base.document, document, former?.document), signal);
    const faults = [...references, ...ownConfig(base.document, document)];
    if (faults.length > 0) throw new OverlayError(faults);
    const { maxDocumentBytes = MAX_DOCUMENT_BYTES } = this.#options.store;
    if ((await jsonInSlices(document, slices)).byteLength > maxDocumentBytes)
      throw new OverlayError([
        { path: [], message: `the configuration would have more than ${maxDocumentBytes} bytes` },
      ]);
    if (this.#find(id).state.kind !== "open") throw beingCommitted();
    // Another change was quicker: this one is on top of it.
    if (transaction.pending !== before) return this.#changed(transaction, signal, change);
    transaction.pending = pending;
    transaction.whole = whole ?? transaction.whole;
    transaction.patchCount++;
    return pending;
  }

  async diff(id: string, signal: AbortSignal): Promise<Difference> {
    const { base, pending } = this.#find(id);
    const { changes, plan, warnings } = await this.validate(id, signal);
    const text = await this.#within(signal, (bound) => this.#texts.diff(base, pending, bound));
    return {
      version: base.version,
      changes,
      ...(text !== undefined && { text }),
      ...(plan !== undefined && { plan }),
      warnings,
    };
  }

  async validate(id: string, signal: AbortSignal): Promise<DryRun> {
    const { base, pending, whole, state } = this.#find(id);
    if (state.kind !== "open") throw beingCommitted();
    const { document } = pending;
    const [checked, erased] = await this.#check(whole, document, signal);
    const conflict = (await this.#stored(signal))?.revision !== base.revision;
    const { applier } = this.#options;
    const sound = checked.ok && erased.length === 0 ? checked : undefined;
    const stranding = sound && (await applier?.stranding(sound.config, signal));
    const plan = sound && (await applier?.plan(sound.config, signal));
    return {
      erasedOptions: erased,
      problems: checked.ok ? [] : checked.problems,
      warnings: checked.warnings,
      conflict,
      changes: await this.#slices().run(changesBetween(base.document, document), signal),
      ...(stranding !== undefined && { stranding }),
      ...(plan !== undefined && { plan }),
    };
  }

  async commit(id: string, actor: string, trial?: CommitTrial): Promise<CommitResult> {
    const transaction = this.#find(id);
    if (trial !== undefined) this.#demandTrial();
    this.#move(transaction, "commit");
    let event: TransactionEvent = "refused";
    try {
      const result = await this.#alone(() => this.#commit(transaction, actor, trial));
      if (!isRefusal(result)) event = result.status;
      return result;
    } finally {
      this.#move(transaction, event);
    }
  }

  confirm(version: number): Promise<void> {
    return this.#probations.confirm(version);
  }

  revert(version: number, reason: string): Promise<Revert> {
    return this.#probations.revert(version, reason);
  }

  probation(): Probation | undefined {
    return this.#probations.open?.probation;
  }

  reverts(): Readonly<Record<string, number>> {
    return this.#probations.counts();
  }

  triesOver(revision: string): boolean {
    const { open } = this.#probations;
    return open !== undefined && "staged" in open.tried && open.base.revision === revision;
  }

  suspend(): Promise<void> {
    return this.#probations.suspend();
  }

  #settle(settled: SettledProbation): void {
    if ("reverted" in settled) return this.#probations.noteReverted(settled.reverted);
    this.#probations.begin(settled.goesOn);
  }

  /** @throws TransactionError when nobody could say how a change does, or put the former one back */
  #demandTrial(): void {
    const { store, applier } = this.#options;
    if (applier?.trial === undefined || (store.staging ?? store.probations) === undefined)
      throw new TransactionError("unsupported", "the configuration is kept where no change can be tried out");
    if (applier.trial.running()) return;
    const why = "the bridge does not run, or is being changed: a change is tried out by one that runs";
    throw new TransactionError("conflict", why, { reason: "not_running" });
  }

  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const underWay = (this.#underWay = work());
    try {
      return await underWay;
    } finally {
      if (this.#underWay === underWay) this.#underWay = undefined;
    }
  }

  get underWay(): Promise<unknown> | undefined {
    return this.#underWay;
  }

  rollback(id: string): void {
    this.#move(this.#find(id), "discarded");
  }

  async history(signal: AbortSignal): Promise<readonly KnownCommit[] | undefined> {
    const { history, versions } = this.#options.store;
    if (history === undefined) return undefined;
    const read = async (bound: AbortSignal) =>
      [await history.list(bound), new Set((await versions?.list(bound)) ?? [])] as const;
    const [entries, kept] = await this.#within(signal, read).catch((error: unknown) => {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new TransactionError("unavailable", `the history cannot be read: ${reason}`, { cause: error });
    });
    const version = (await this.#stored(signal))?.version;
    const committing = this.#live()?.state.kind === "committing";
    const known = { version, staging: this.#options.store.staging, committing };
    return entries
      .flatMap((entry) => asKnown(entry, known))
      .map((entry) => ({ ...entry, available: entry.version === version || kept.has(entry.version) }));
  }

  outcomes(): Readonly<Record<TransactionOutcome, number>> {
    const counts = TRANSACTION_OUTCOMES.map((outcome) => [outcome, this.#outcomes.get(outcome) ?? 0]);
    return Object.fromEntries(counts) as Record<TransactionOutcome, number>;
  }

  notApplied(): NotApplied | undefined {
    return this.#notApplied;
  }

  async #commit(
    { base, pending, whole, patchCount }: Transaction,
    actor: string,
    asked: CommitTrial | undefined,
  ): Promise<CommitResult> {
    const { text } = pending;
    const signal = NEVER;
    const { clock, applier } = this.#options;
    const [checked, erased] = await this.#check(whole, pending.document, signal);
    if (erased.length > 0) return { status: "erases_options", erasedOptions: erased };
    if ((patchCount > 0 || pending.document !== base.document) && !checked.ok)
      return { status: "invalid", problems: checked.problems };
    const stored = await this.#stored(signal);
    if (stored?.revision !== base.revision) return { status: "conflict", error: movedSince(base, stored) };
    const isAsStored = text === undefined && isDeepStrictEqual(pending.document, base.document);
    if (!checked.ok || isAsStored) return { status: "committed", version: base.version };
    const stranding = await applier?.stranding(checked.config, signal);
    if (stranding !== undefined) return { status: "stranding", stranding };
    const changes = await this.#slices().run(changesBetween(base.document, pending.document));
    const version = await this.#history.after(base);
    const entry = { version: version + 1, committedAt: clock.now(), actor, changes };
    const change = {
      base,
      expected: { ...base, version },
      document: pending.document,
      text,
      config: checked.config,
      entry,
      trial: asked && (await this.#trial(asked, checked.config)),
      tell: tellerOf(checked),
    };
    const { result, differs, onProbation } = await commitChange(change, this.#parts());
    if (onProbation !== undefined) this.#probations.begin(onProbation);
    const { status } = result;
    if (status === "conflict" || status === "rolled_back" || (status === "committed_not_applied" && !differs))
      this.#history.withdraw(entry);
    if (result.status === "committed_not_applied" && differs)
      this.#notApplied = { version: result.version, error: result.error, since: clock.now() };
    else if (result.status === "committed" || result.status === "committed_applying") this.#notApplied = undefined;
    return result;
  }

  async #trial({ withinMs, guard }: CommitTrial, config: BridgeConfig): Promise<TrialRequest> {
    const plan = await this.#options.applier?.plan(config, NEVER);
    const { restarted = [], added = [] } = plan?.routes ?? {};
    return { withinMs, guard, routes: [...restarted, ...added] };
  }

  #parts(): Omit<StagingParts, "staging"> {
    const { store, applier, applyTimeoutMs = APPLY_TIMEOUT_MS, clock, logger } = this.#options;
    return {
      store,
      history: this.#history,
      applier,
      applyTimeoutMs,
      clock,
      logger,
      instanceId: this.#instanceId,
      check: (document) => this.#checked(document, NEVER),
    };
  }

  /**
   * A former version, as it would be stored again: what a change may do is said by what is stored now, and nothing else.
   * @throws TransactionError
   */
  async #former(
    version: number,
    base: StoredConfig,
    signal: AbortSignal,
  ): Promise<{ readonly stored: StoredConfig; readonly pending: Written } | undefined> {
    const { versions, texts } = this.#options.store;
    if (version === base.version) return undefined;
    if (versions === undefined)
      throw new TransactionError("unsupported", "the configuration is kept where no former versions are");
    let stored: StoredConfig | undefined;
    let text: string | undefined;
    try {
      stored = await this.#within(signal, (bound) => versions.load(version, bound));
      if (stored !== undefined) ({ text } = (await texts?.of(stored, signal)) ?? {});
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TransactionError("unavailable", `version ${version} cannot be read: ${reason}`, { cause: error });
    }
    if (stored === undefined)
      throw new TransactionError("not_found", `version ${version} is not kept: GET /config/history tells which are`);
    const { config: _, ...rest } = stored.document;
    const { config, config_version: current } = base.document;
    const document = {
      ...rest,
      ...(current !== undefined && { config_version: current }),
      ...(config !== undefined && { config }),
    };
    return { stored, pending: { document, text } };
  }

  /** Of the document that was looked at last it is kept. */
  async #view(document: StoredConfig["document"]): Promise<ConfigView> {
    if (this.#seen?.document !== document)
      this.#seen = { document, view: await this.#slices().run(redactedView(document)) };
    return this.#seen.view;
  }

  /** What is wrong with `after`, and what of the options in `before` it would erase. */
  async #check(before: unknown, after: unknown, signal: AbortSignal): Promise<[CheckedDocument, readonly Path[]]> {
    const checked = await this.#checked(after, signal);
    const { document } = await this.#within(signal, (bound) =>
      resolveReferences(before, this.#options.sources, bound, this.#slices()),
    );
    return [checked, erasedOptions(document, checked.resolved)];
  }

  #checked(document: unknown, signal: AbortSignal): Promise<CheckedDocument> {
    const { registry, sources } = this.#options;
    return this.#within(signal, (bound) => checkDocument(document, registry, sources, bound, this.#slices()));
  }

  #within<Result>(signal: AbortSignal, work: (bound: AbortSignal) => Promise<Result>): Promise<Result> {
    return readWithin(this.#options.clock, signal, work);
  }

  #slices(): Slices {
    return new Slices(this.#options.clock);
  }

  /** @throws TransactionError */
  async #load(signal: AbortSignal): Promise<StoredConfig> {
    let stored: StoredConfig | undefined;
    try {
      stored = await this.#within(signal, (bound) => this.#options.store.load(bound));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TransactionError("unavailable", `the configuration cannot be read: ${reason}`, { cause: error });
    }
    if (stored === undefined) throw new TransactionError("unavailable", "there is no configuration yet");
    return stored;
  }

  /** What is stored; `undefined` when there is nothing that can be read. */
  async #stored(signal: AbortSignal): Promise<StoredConfig | undefined> {
    return this.#load(signal).catch(() => undefined);
  }

  /** The transaction that has not ended. */
  #live(): Transaction | undefined {
    const transaction = this.#transaction;
    if (transaction?.state.kind === "open" && this.#options.clock.monotonic() >= transaction.expiresAtMonotonic)
      this.#move(transaction, "expired");
    return this.#transaction;
  }

  #find(id: string): Transaction {
    const transaction = this.#live();
    if (transaction?.id !== id) throw new TransactionError("not_found", "transaction not found or expired");
    return transaction;
  }

  #refuseSecond(): void {
    const probation = this.probation();
    if (probation !== undefined) {
      const until = formatTimestamp(probation.confirmBy);
      const told = `version ${probation.version} is on probation until ${until}: confirm it or revert it`;
      throw new TransactionError("conflict", told, { reason: "probation" });
    }
    const other = this.#live();
    if (other === undefined) return;
    const until = formatTimestamp(other.expiresAt);
    throw new TransactionError(
      "conflict",
      `the transaction ${other.id} is open until ${until}: commit it or roll it back`,
    );
  }

  /** The only place that changes a state. One that has ended is forgotten. */
  #move(transaction: Transaction, event: TransactionEvent): void {
    const next = nextState(transaction.state, event);
    if (next === undefined) throw beingCommitted();
    transaction.state = next;
    this.#outcomes.set(event, (this.#outcomes.get(event) ?? 0) + 1);
    if (next.kind === "ended") this.#transaction = undefined;
  }
}

/** What a transaction is to become, asked again when another change was quicker; `whole` when all of it was sent. */
type Change = (
  transaction: Transaction,
) => Promise<{ readonly pending: Written; readonly whole?: StoredConfig["document"] }>;

function isRefusal(result: CommitResult): result is Exclude<CommitResult, Outcome> {
  return ["erases_options", "invalid", "stranding"].includes(result.status);
}

/** What says what a change may do is not for changes to say. */
function ownConfig(before: StoredConfig["document"], after: StoredConfig["document"]): readonly Problem[] {
  if (isDeepStrictEqual(before["config"], after["config"])) return [];
  return [{ path: ["config"], message: "changes in the document itself, not over the admin API" }];
}

function beingCommitted(): TransactionError {
  return new TransactionError("conflict", "the transaction is being committed");
}

function movedSince(base: StoredConfig, stored: StoredConfig | undefined): string {
  const now = stored === undefined ? "cannot be read now" : `is version ${stored.version} now`;
  return `the configuration was version ${base.version} when the transaction was opened, and another hand has written since: it ${now}; open a new transaction`;
}
