import { isDeepStrictEqual } from "node:util";
import type { BridgeDocument } from "@bridge/config";
import { MemoryDocument } from "@bridge/memory";
import type { LeftProbation, LeftStore, Probation, StoredConfig } from "@bridge/ports";
import type { Auditor } from "../run/auditor.ts";
import type { Moments } from "../run/moments.ts";
import type { DocumentHabits } from "../plan/planned-commit.ts";
import type { Trace } from "../trace.ts";
import type { Owner } from "../time/virtual-time.ts";
import { ProcessLock } from "./process-lock.ts";
import { Remote, type RemoteOptions } from "./remote.ts";

export interface KeptDocumentOptions extends Omit<RemoteOptions, "name" | "habits"> {
  readonly trace: Trace;
  readonly auditor: Pick<Auditor, "documents">;
  readonly moments?: Pick<Moments, "comes">;
  readonly habits: DocumentHabits;
  /** What is there at first, as version 1. */
  readonly document: BridgeDocument;
}

/** What lies beside a file of a document that is on probation. */
export interface ProbationNote extends Pick<LeftProbation, "probation" | "orderly" | "reversal"> {
  /** What is on probation. */
  readonly tried: StoredConfig;
  readonly former: StoredConfig;
}

/** What lies beside a file while the stores of a former document are being left; `lock`: of whoever goes on leaving them. */
export interface Leaving {
  readonly former: StoredConfig;
  readonly lock: ProcessLock;
}

/** What lies beside the file for a former document whose stores are not empty. */
export interface LeftDocument {
  readonly stored: StoredConfig;
  readonly stores: readonly LeftStore[];
}

/** How a document that somebody took away for a time appears. */
export type Away = "missing" | "unreadable" | "empty";

/** The document that configures the bridge. Outlives all instances, in a table that they share or in a file beside one. */
export class KeptDocument {
  readonly service: Remote;
  readonly held: MemoryDocument;
  readonly options: KeptDocumentOptions;
  /** While the file is away: what is found in its place, until somebody writes one there. */
  away: Away | undefined;
  /** Of a file. */
  note: ProbationNote | undefined;
  /** Whose that is. */
  readonly noteLock = new ProcessLock();
  /** Beside a file: what messages came in under that may still wait where the document says nothing of. */
  readonly leaving = new Set<Leaving>();
  /** Beside a file: former documents that have left something in their stores, the newest first. */
  left: readonly LeftDocument[] = [];

  constructor(options: KeptDocumentOptions) {
    this.options = options;
    this.service = new Remote({ ...options, name: "document", local: !options.habits.shared });
    this.held = new MemoryDocument(plain(options.document, 1));
  }

  /** The document that counts, whether it is readable now or not. */
  get stored(): StoredConfig {
    const { state } = this.held;
    if (state.kind !== "changed") throw new Error("nothing takes the document away for good here");
    return state.stored;
  }

  /** Whether a version is being tried out. */
  get isTried(): boolean {
    return this.held.staged !== undefined || this.note !== undefined;
  }

  /** A process has closed it. */
  letGo(owner: Owner): void {
    this.noteLock.letGo(owner);
    for (const { lock } of this.leaving) lock.letGo(owner);
  }

  /** Somebody who knows nothing about instances writes another document: the next version. */
  byHand(document: BridgeDocument): void {
    const { auditor, trace } = this.options;
    const version = auditor.documents.highest + 1;
    this.away = undefined;
    this.held.replace(plain(this.#isMovedUntold(document) ? { ...document, stores: this.#stores } : document, version));
    auditor.documents.written(version);
    trace.add(`somebody writes version ${version} of the document by hand`);
  }

  /** The same person restores an older version, `back` versions ago. */
  older(back: number): void {
    const former = this.held.kept[Math.min(back, this.held.kept.length) - 1];
    if (former === undefined || this.#isMovedUntold(former.document)) return;
    this.away = undefined;
    this.held.replace(former.document);
    this.options.auditor.documents.wanted(former.version);
    this.options.trace.add(`somebody puts back version ${former.version} of the document by hand`);
  }

  get #stores(): BridgeDocument["stores"] {
    return (this.stored.document as Pick<BridgeDocument, "stores">).stores;
  }

  /** Whether it has the outbox elsewhere where nothing is remembered: the manual warns of doing so by hand. */
  #isMovedUntold({ stores }: Pick<BridgeDocument, "stores">): boolean {
    return this.options.habits.shared && !isDeepStrictEqual(stores?.outbox, this.#stores?.outbox);
  }

  /** A document has come into force for whoever starts now. */
  noteWritten(how: string, { version }: Pick<StoredConfig, "version">): void {
    this.away = undefined;
    this.options.trace.add(`document: version ${version} is ${how}`);
    this.options.auditor.documents.written(version);
  }

  /** A version is tried out from now on. */
  noteTried({ version }: Pick<StoredConfig, "version">, until: Probation["confirmBy"] | undefined): void {
    this.options.auditor.documents.given(version);
    this.options.trace.add(`document: version ${version} is ${until === undefined ? "staged" : "on probation"}`);
  }
}

/** As JSON has it. */
function plain(document: BridgeDocument, version: number): Readonly<Record<string, unknown>> {
  return { ...(JSON.parse(JSON.stringify(document)) as BridgeDocument), config_version: version };
}
