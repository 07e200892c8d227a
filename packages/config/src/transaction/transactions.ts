import type { Probation } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import type { BridgeConfig } from "../model.ts";
import { Aftermath } from "./aftermath.ts";
import { beginTransaction } from "./begin-transaction.ts";
import { type Change, changePending } from "./change-pending.ts";
import { CommitHistory } from "./commit-history.ts";
import { applyAgain, isUsable } from "./commit-parts.ts";
import { commitPending, demandTrial, isRefusal } from "./commit-pending.ts";
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
import { DocumentTexts } from "./document-texts.ts";
import { dryRun } from "./dry-run.ts";
import { knownCommits } from "./known-commits.ts";
import type { SettledProbation } from "./left-probation.ts";
import { Leftovers } from "./leftovers.ts";
import { mergeOverlay } from "./merge-overlay.ts";
import type { Revert } from "./on-probation.ts";
import { OpenTransaction, type Transaction } from "./open-transaction.ts";
import type { LeftElsewhere } from "./probation-elsewhere.ts";
import { Probations } from "./probations.ts";
import type { StagingParts } from "./stage-and-apply.ts";
import { StoredDocuments } from "./stored-documents.ts";
import type { TransactionEvent, TransactionOutcome } from "./transaction-state.ts";
import type { ConfigTransactionsOptions } from "./transactions-options.ts";
import { UnderWay } from "./under-way.ts";

const APPLY_TIMEOUT_MS = 60_000;
const NEVER = new AbortController().signal;
/**
 * A configuration that patches have made larger than this is refused: as a file it must stay one that can be loaded.
 */
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

export function createConfigTransactions(options: ConfigTransactionsOptions): ConfigTransactions {
  return new Transactions(options);
}

class Transactions implements ConfigTransactions {
  readonly #options: ConfigTransactionsOptions;
  readonly #history: CommitHistory;
  readonly #texts: DocumentTexts;
  readonly #probations: Probations;
  readonly #documents: StoredDocuments;
  readonly #open: OpenTransaction;
  readonly #leftovers: Leftovers;
  readonly #aftermath: Aftermath;
  readonly #instanceId: string;
  readonly #underWay = new UnderWay();

  constructor(options: ConfigTransactionsOptions) {
    const logger = steadyLogger(options.logger);
    this.#options = { ...options, logger };
    this.#instanceId = options.instanceId ?? options.random.id();
    this.#texts = new DocumentTexts(options);
    this.#documents = new StoredDocuments(options);
    const { storesOf } = this.#documents;
    const { leftBehind = [], startsWith } = options;
    this.#leftovers = new Leftovers(leftBehind, { ...options, logger, storesOf }, startsWith);
    this.#aftermath = new Aftermath(this.#leftovers);
    this.#open = new OpenTransaction(
      options.clock,
      () => this.#probations.open,
      () => this.#probations.withdrawn(),
    );
    this.#history = new CommitHistory(options.store, options.clock, logger);
    this.#probations = new Probations({
      ...options,
      applier: options.applier,
      instanceId: this.#instanceId,
      logger,
      storesOf,
      history: this.#history,
      isUsable: (stored) => isUsable(stored, this.#parts()),
      applyAgain: (stored) => applyAgain(stored, this.#parts()),
      exclusively: (work) => this.#underWay.during(work),
      onReverted: (reverted) => {
        this.#leftovers.tookBack(reverted);
        options.onReverted?.(reverted);
      },
      onNotInForce: () => options.onNotInForce?.(),
      onConfirmed: () => this.#aftermath.storedRuns(),
    });
    if (options.settled !== undefined) this.#settle(options.settled);
  }

  async current(signal: AbortSignal): Promise<{ version: number; config: ConfigView }> {
    const { version, document } = await this.#documents.load(signal);
    return { version, config: await this.#documents.view(document) };
  }

  async document(signal: AbortSignal): Promise<ShownText> {
    const stored = await this.#documents.load(signal);
    return this.#documents.within(signal, (bound) => this.#texts.show(stored, bound));
  }

  async open(
    ttlMs: number,
    signal: AbortSignal,
    fromVersion?: number,
  ): Promise<TransactionInfo & { config: ConfigView }> {
    const { store, sources, clock, random } = this.#options;
    const place = { store, sources, clock, instanceId: this.#instanceId };
    const parts = { open: this.#open, documents: this.#documents, place, random };
    const { transaction, config } = await beginTransaction({ ttlMs, fromVersion }, parts, signal);
    const { id, version, createdAt, expiresAt } = transaction;
    return { id, version, createdAt, expiresAt, config };
  }

  has(id: string): boolean {
    return this.#open.live?.id === id;
  }

  async inspect(id: string): Promise<Inspection> {
    const { version, createdAt, expiresAt, patchCount, pending } = this.#open.find(id);
    return { id, version, createdAt, expiresAt, patchCount, preview: await this.#documents.view(pending.document) };
  }

  async patch(id: string, overlay: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Patched> {
    return this.#change(id, signal, async ({ pending: { document, text } }, bound) => {
      return {
        pending: { document: await this.#documents.slices().run(mergeOverlay(document, overlay), bound), text },
      };
    });
  }

  async replace(id: string, text: string, signal: AbortSignal): Promise<Patched> {
    return this.#change(id, signal, async ({ base }, bound) => {
      const pending = await this.#texts.read(text, base, bound);
      return { pending, whole: pending.document };
    });
  }

  async #change(id: string, signal: AbortSignal, change: Change): Promise<Patched> {
    const transaction = this.#open.find(id);
    this.#open.move(transaction, "patch");
    const { store } = this.#options;
    const parts = {
      open: this.#open,
      documents: this.#documents,
      maxDocumentBytes: store.maxDocumentBytes ?? MAX_DOCUMENT_BYTES,
    };
    return changePending(transaction, change, parts, signal);
  }

  async diff(id: string, signal: AbortSignal): Promise<Difference> {
    const { base, pending } = this.#open.find(id);
    return this.#documents.within(signal, async (bound) => {
      const { changes, plan, warnings } = await this.validate(id, bound);
      const text = await this.#texts.diff(base, pending, bound);
      const more = { ...(text !== undefined && { text }), ...(plan !== undefined && { plan }) };
      return { version: base.version, changes, ...more, warnings };
    });
  }

  async validate(id: string, signal: AbortSignal): Promise<DryRun> {
    const { store, applier } = this.#options;
    const parts = { store, documents: this.#documents, applier };
    return this.#documents.within(signal, (bound) => dryRun(this.#open.find(id), parts, bound));
  }

  async commit(id: string, actor: string, trial?: CommitTrial): Promise<CommitResult> {
    const transaction = this.#open.find(id);
    if (trial !== undefined) demandTrial(this.#parts());
    this.#open.move(transaction, "commit");
    let event: TransactionEvent = "refused";
    try {
      const result = await this.#underWay.during(() => this.#commit(transaction, actor, trial));
      if (!isRefusal(result)) event = result.status;
      return result;
    } finally {
      this.#open.move(transaction, event);
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

  confirmable(): Probation | undefined {
    const { open } = this.#probations;
    return open?.withdrawn === undefined ? open?.probation : undefined;
  }

  leftElsewhere(): LeftElsewhere | undefined {
    return this.#probations.leftElsewhere;
  }

  leftBehind(): string | undefined {
    return this.#leftovers.told;
  }

  withdrawn(): string | undefined {
    return this.#probations.withdrawn();
  }

  reverts(): Readonly<Record<string, number>> {
    return this.#probations.counts();
  }

  triesOver(revision: string): boolean {
    return this.#probations.holdsBack(revision);
  }

  suspend(): Promise<void> {
    return this.#probations.suspend();
  }

  #settle(settled: SettledProbation): void {
    if ("reverted" in settled) return this.#probations.noteReverted(settled.reverted);
    if ("goesOn" in settled) return this.#probations.begin(settled.goesOn);
    const { probation, left } = settled.takenBack;
    this.#leftovers.tookBack({ version: probation.version, formerVersion: probation.formerVersion, ...left });
    this.#probations.takeUp(settled);
  }

  get underWay(): Promise<unknown> | undefined {
    return this.#underWay.work;
  }

  rollback(id: string): void {
    this.#open.move(this.#open.find(id), "discarded");
  }

  history(signal: AbortSignal): Promise<readonly KnownCommit[] | undefined> {
    const running = {
      isCommitting: () => this.#open.live?.state.kind === "committing",
      tried: () => this.#probations.open?.probation.version,
      takenBack: () => this.#probations.takenBack,
    };
    return knownCommits(this.#options.store, this.#documents, running, signal);
  }

  outcomes(): Readonly<Record<TransactionOutcome, number>> {
    return this.#open.outcomes();
  }

  notApplied(): NotApplied | undefined {
    return this.#aftermath.notApplied;
  }

  started(config: BridgeConfig): void {
    this.#leftovers.starts(config);
  }

  followed(config?: BridgeConfig): void {
    this.#aftermath.storedRuns();
    if (config !== undefined) this.#leftovers.runs(config);
  }

  async #commit(transaction: Transaction, actor: string, trial: CommitTrial | undefined): Promise<CommitResult> {
    if (trial !== undefined) await this.#leftovers.keepUnkept();
    // What it was begun with may have been told to be committed again, and refers to what has changed since.
    if (transaction.former?.places !== undefined) await this.#leftovers.look();
    const outcome = await commitPending(transaction, actor, trial, {
      documents: this.#documents,
      parts: this.#parts(),
      onReverted: (reverted) => this.#probations.noteReverted(reverted),
    });
    if (!outcome.begun) return outcome.result;
    if (outcome.onProbation !== undefined) this.#probations.begin(outcome.onProbation);
    this.#aftermath.ofCommit(outcome);
    return outcome.result;
  }

  #parts(): Omit<StagingParts, "staging"> {
    const { store, applier, applyTimeoutMs = APPLY_TIMEOUT_MS, clock, logger, onNotInForce } = this.#options;
    return {
      store,
      history: this.#history,
      applier,
      applyTimeoutMs,
      clock,
      logger,
      instanceId: this.#instanceId,
      onNotInForce: () => onNotInForce?.(),
      onStoredRuns: (config) => this.#aftermath.storedRuns(config),
      check: (document) => this.#documents.check(document, NEVER),
      storesOf: this.#documents.storesOf,
    };
  }
}
