import { isDeepStrictEqual } from "node:util";
import {
  type Clock,
  type ConfigHistoryEntry,
  type ConfigStore,
  type Logger,
  type Random,
  type StoredConfig,
} from "@bridge/ports";
import { formatTimestamp, jsonInSlices, Slices, steadyLogger } from "@bridge/ports/internal";
import { type CheckedDocument, checkDocument } from "../check-document.ts";
import type { Path, Problem } from "../problem.ts";
import { type ReferenceSources, resolveReferences } from "../references.ts";
import type { Registry } from "../registry.ts";
import type { ConfigApplier } from "./applier.ts";
import { changesBetween } from "./changes.ts";
import { commitChange } from "./commit-change.ts";
import { asKnown, CommitHistory } from "./commit-history.ts";
import { type Outcome, tellerOf } from "./commit-parts.ts";
import type {
  CommitResult,
  ConfigTransactions,
  ConfigView,
  DryRun,
  Inspection,
  NotApplied,
  Patched,
  TransactionInfo,
} from "./contract.ts";
import { erasedOptions } from "./erased-options.ts";
import { mergeOverlay } from "./merge-overlay.ts";
import { newReferences } from "./new-references.ts";
import { OverlayError } from "./overlay-error.ts";
import { readWithin } from "./read-within.ts";
import { redactedView } from "./redacted-view.ts";
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
  /** As people would write it. */
  pending: StoredConfig["document"];
  patchCount: number;
}

class Transactions implements ConfigTransactions {
  readonly #options: ConfigTransactionsOptions;
  readonly #history: CommitHistory;
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
    this.#history = new CommitHistory(options.store, options.clock, logger);
  }

  async current(signal: AbortSignal): Promise<{ version: number; config: ConfigView }> {
    const { version, document } = await this.#load(signal);
    return { version, config: await this.#view(document) };
  }

  async open(ttlMs: number, signal: AbortSignal): Promise<TransactionInfo & { config: ConfigView }> {
    this.#refuseSecond();
    const base = await this.#load(signal);
    const { clock, random, store, sources } = this.#options;
    const refusal = await readWithin(clock, signal, (bound) => whyNotNow(base, { store, sources, clock }, bound));
    if (refusal !== undefined) throw new TransactionError("conflict", refusal);
    this.#refuseSecond();
    const createdAt = clock.now();
    const info = { id: random.id(), version: base.version, createdAt, expiresAt: createdAt + ttlMs };
    const expiresAtMonotonic = clock.monotonic() + ttlMs;
    const { document } = base;
    this.#transaction = {
      ...info,
      base,
      expiresAtMonotonic,
      state: { kind: "open" },
      pending: document,
      patchCount: 0,
    };
    return { ...info, config: await this.#view(document) };
  }

  has(id: string): boolean {
    return this.#live()?.id === id;
  }

  async inspect(id: string): Promise<Inspection> {
    const { version, createdAt, expiresAt, patchCount, pending } = this.#find(id);
    return { id, version, createdAt, expiresAt, patchCount, preview: await this.#view(pending) };
  }

  async patch(id: string, overlay: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Patched> {
    const transaction = this.#find(id);
    this.#move(transaction, "patch");
    const merged = await this.#merge(transaction, overlay, signal);
    const [checked, erased] = await this.#check(transaction.base.document, merged, signal);
    const refused = erased.map((path) => ({ path, message: "would be erased: the commit will be refused" }));
    return {
      preview: await this.#view(merged),
      problems: checked.ok ? [] : checked.problems,
      warnings: [...refused, ...checked.warnings],
    };
  }

  /** Puts an overlay on top of what is pending by then. */
  async #merge(
    transaction: Transaction,
    overlay: StoredConfig["document"],
    signal: AbortSignal,
  ): Promise<StoredConfig["document"]> {
    const { id, base, pending } = transaction;
    const slices = this.#slices();
    const merged = await slices.run(mergeOverlay(pending, overlay), signal);
    const references = await slices.run(newReferences(base.document, merged), signal);
    const faults = [...references, ...ownConfig(base.document, merged)];
    if (faults.length > 0) throw new OverlayError(faults);
    const { maxDocumentBytes = MAX_DOCUMENT_BYTES } = this.#options.store;
    if ((await jsonInSlices(merged, slices)).byteLength > maxDocumentBytes)
      throw new OverlayError([
        { path: [], message: `the configuration would have more than ${maxDocumentBytes} bytes` },
      ]);
    if (this.#find(id).state.kind !== "open") throw beingCommitted();
    // Another patch was quicker: this one is on top of it.
    if (transaction.pending !== pending) return this.#merge(transaction, overlay, signal);
    transaction.pending = merged;
    transaction.patchCount++;
    return merged;
  }

  async validate(id: string, signal: AbortSignal): Promise<DryRun> {
    const { base, pending, state } = this.#find(id);
    if (state.kind !== "open") throw beingCommitted();
    const [checked, erased] = await this.#check(base.document, pending, signal);
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
      changes: await this.#slices().run(changesBetween(base.document, pending), signal),
      ...(stranding !== undefined && { stranding }),
      ...(plan !== undefined && { plan }),
    };
  }

  async commit(id: string, actor: string): Promise<CommitResult> {
    const transaction = this.#find(id);
    this.#move(transaction, "commit");
    let event: TransactionEvent = "refused";
    try {
      const committing = (this.#underWay = this.#commit(transaction, actor));
      const result = await committing;
      if (!isRefusal(result)) event = result.status;
      return result;
    } finally {
      this.#underWay = undefined;
      this.#move(transaction, event);
    }
  }

  get underWay(): Promise<unknown> | undefined {
    return this.#underWay;
  }

  rollback(id: string): void {
    this.#move(this.#find(id), "discarded");
  }

  async history(signal: AbortSignal): Promise<readonly ConfigHistoryEntry[] | undefined> {
    const { history } = this.#options.store;
    if (history === undefined) return undefined;
    const entries = await this.#within(signal, (bound) => history.list(bound)).catch((error: unknown) => {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      throw new TransactionError("unavailable", `the history cannot be read: ${reason}`, { cause: error });
    });
    const version = (await this.#stored(signal))?.version;
    const committing = this.#live()?.state.kind === "committing";
    return entries.flatMap((entry) => asKnown(entry, { version, staging: this.#options.store.staging, committing }));
  }

  outcomes(): Readonly<Record<TransactionOutcome, number>> {
    const counts = TRANSACTION_OUTCOMES.map((outcome) => [outcome, this.#outcomes.get(outcome) ?? 0]);
    return Object.fromEntries(counts) as Record<TransactionOutcome, number>;
  }

  notApplied(): NotApplied | undefined {
    return this.#notApplied;
  }

  async #commit({ base, pending, patchCount }: Transaction, actor: string): Promise<CommitResult> {
    const signal = NEVER;
    const { clock, store, logger, applier, applyTimeoutMs = APPLY_TIMEOUT_MS } = this.#options;
    const [checked, erased] = await this.#check(base.document, pending, signal);
    if (erased.length > 0) return { status: "erases_options", erasedOptions: erased };
    if (patchCount > 0 && !checked.ok) return { status: "invalid", problems: checked.problems };
    const stored = await this.#stored(signal);
    if (stored?.revision !== base.revision) return { status: "conflict", error: movedSince(base, stored) };
    if (!checked.ok || isDeepStrictEqual(pending, base.document)) return { status: "committed", version: base.version };
    const stranding = await applier?.stranding(checked.config, signal);
    if (stranding !== undefined) return { status: "stranding", stranding };
    const changes = await this.#slices().run(changesBetween(base.document, pending));
    const version = await this.#history.after(base);
    const entry = { version: version + 1, committedAt: clock.now(), actor, changes };
    const change = {
      base,
      expected: { ...base, version },
      document: pending,
      config: checked.config,
      entry,
      tell: tellerOf(checked),
    };
    const { result, differs } = await commitChange(change, {
      store,
      history: this.#history,
      applier,
      applyTimeoutMs,
      clock,
      logger,
      instanceId: this.#instanceId,
      check: (document) => this.#checked(document, signal),
    });
    const { status } = result;
    if (status === "conflict" || status === "rolled_back" || (status === "committed_not_applied" && !differs))
      this.#history.withdraw(entry);
    if (result.status === "committed_not_applied" && differs)
      this.#notApplied = { version: result.version, error: result.error, since: clock.now() };
    else if (result.status === "committed" || result.status === "committed_applying") this.#notApplied = undefined;
    return result;
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

function isRefusal(result: CommitResult): result is Exclude<CommitResult, Outcome> {
  return ["erases_options", "invalid", "stranding"].includes(result.status);
}

/** What says what a change may do is not for changes to say. */
function ownConfig(before: StoredConfig["document"], after: StoredConfig["document"]): readonly Problem[] {
  if (isDeepStrictEqual(before["config"], after["config"])) return [];
  return [{ path: ["config"], message: "changes in the document itself, not through a PATCH" }];
}

function beingCommitted(): TransactionError {
  return new TransactionError("conflict", "the transaction is being committed");
}

function movedSince(base: StoredConfig, stored: StoredConfig | undefined): string {
  const now = stored === undefined ? "cannot be read now" : `is version ${stored.version} now`;
  return `the configuration was version ${base.version} when the transaction was opened, and another hand has written since: it ${now}; open a new transaction`;
}
