import type { ConfigChange, ConfigHistoryEntry, StagedConfig, StoredConfig } from "@bridge/ports";
import { withEntry } from "@bridge/ports/internal";

/** What a document is at one moment; each change makes a new one. */
export type DocumentState = ConfigChange;

const HISTORY_ENTRIES = 20;
const KEPT_VERSIONS = 20;

/** A configuration document in this process. Stores on it see what it holds, and it outlives them. */
export class MemoryDocument {
  #state: DocumentState;
  #writes = 0;
  #staged: { readonly staged: StagedConfig; readonly stored: StoredConfig } | undefined;
  #history: readonly ConfigHistoryEntry[] = [];
  /** Former documents, the newest first. */
  #kept: readonly StoredConfig[] = [];
  readonly #watchers = new Set<() => void>();

  /** Holds `document`, or nothing. */
  constructor(document?: Readonly<Record<string, unknown>>) {
    this.#state = document === undefined ? { kind: "missing" } : this.#holding(document);
  }

  /** Puts another document there, with the version that stands in it; `undefined` takes it away. */
  replace(document: Readonly<Record<string, unknown>> | undefined): void {
    this.#enter(document === undefined ? { kind: "missing" } : this.#holding(document));
  }

  /** Says that there is a document which cannot be had, and why: for programs that fetch theirs from elsewhere. */
  fail(error: Error): void {
    this.#enter({ kind: "unreadable", error });
  }

  /** @internal */
  get state(): DocumentState {
    return this.#state;
  }

  /** Puts `document` there as `version`. @internal */
  write(document: Readonly<Record<string, unknown>>, version: number): StoredConfig {
    const state = this.#holding({ ...document, config_version: version });
    this.#keepFormer();
    this.#enter(state);
    return state.stored;
  }

  /** @internal */
  restore(stored: StoredConfig): void {
    this.#enter({ kind: "changed", stored });
  }

  /** @internal */
  get staged(): StagedConfig | undefined {
    return this.#staged?.staged;
  }

  /** Lays `document` beside what is there, in the place of what lay there. @internal */
  stage(
    document: Readonly<Record<string, unknown>>,
    version: number,
    { by, at, until }: Pick<StagedConfig, "by" | "at" | "until">,
  ): StagedConfig {
    const { stored } = this.#holding({ ...document, config_version: version });
    const staged = Object.freeze({ version, revision: stored.revision, by, at, ...(until !== undefined && { until }) });
    this.#staged = { staged, stored };
    return staged;
  }

  /** Puts there what is staged. @internal */
  confirm(): void {
    if (this.#staged === undefined) return;
    this.#keepFormer();
    this.restore(this.#staged.stored);
  }

  /** Takes away what is staged. @internal */
  discard(): void {
    this.#staged = undefined;
  }

  /** Former documents, the newest first. @internal */
  get kept(): readonly StoredConfig[] {
    return this.#kept;
  }

  /** @internal */
  keep({ version, document }: Pick<StoredConfig, "version" | "document">): void {
    const { stored } = this.#holding({ ...document, config_version: version });
    this.#kept = [stored, ...this.#kept.filter((kept) => kept.version !== version)]
      .toSorted((a, b) => b.version - a.version)
      .slice(0, KEPT_VERSIONS);
  }

  /** Calls `changed` after each change until disposed. @internal */
  onChange(changed: () => void): Disposable {
    this.#watchers.add(changed);
    return { [Symbol.dispose]: () => void this.#watchers.delete(changed) };
  }

  /** The newest first. @internal */
  get history(): readonly ConfigHistoryEntry[] {
    return this.#history;
  }

  /** @internal */
  append(entry: ConfigHistoryEntry): void {
    this.#history = withEntry(this.#history, structuredClone(entry)).slice(0, HISTORY_ENTRIES);
  }

  #keepFormer(): void {
    if (this.#state.kind === "changed") this.keep(this.#state.stored);
  }

  #holding(document: Readonly<Record<string, unknown>>): Extract<DocumentState, { kind: "changed" }> {
    const copy = frozen(structuredClone(document));
    const version = copy["config_version"];
    const stored = {
      version: typeof version === "number" && Number.isSafeInteger(version) ? version : 0,
      revision: String(++this.#writes),
      document: copy,
    };
    return { kind: "changed", stored: Object.freeze(stored) };
  }

  #enter(state: DocumentState): void {
    this.#state = state;
    this.#staged = undefined;
    for (const changed of this.#watchers) changed();
  }
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}
